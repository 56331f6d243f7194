/** The keys of the charts that have the focus. */
import type { Binding } from "../../../base/keys";

interface HeapActions {
  /** To the event that many later. */
  readonly move: (by: number) => void;
  readonly choose: () => void;
  readonly zoomBy: (factor: number) => void;
  readonly peak: () => void;
  readonly reset: () => void;
}

const PAGE = 25;
const EVER = 1e9;

export function heapKeys({ move, choose, zoomBy, peak, reset }: HeapActions): readonly Binding[] {
  const section = "Program memory";
  return [
    { keys: ["ArrowLeft"], label: "Previous event", section, run: () => move(-1) },
    { keys: ["ArrowRight"], label: "Next event", section, run: () => move(1) },
    { keys: ["PageUp"], label: `${PAGE} events back`, section, run: () => move(-PAGE) },
    { keys: ["PageDown"], label: `${PAGE} events on`, section, run: () => move(PAGE) },
    { keys: ["Home"], label: "First event", section, run: () => move(-EVER) },
    { keys: ["End"], label: "Last event", section, run: () => move(EVER) },
    { keys: ["Enter"], label: "List what is in memory after the event", section, run: choose },
    { keys: ["p"], label: "List what is in memory at the peak", section, run: peak },
    { keys: ["+", "="], label: "Zoom in", section, run: () => zoomBy(0.5) },
    { keys: ["-"], label: "Zoom out", section, run: () => zoomBy(2) },
    { keys: ["Escape"], label: "Clear the event, then show all events", section, run: reset },
  ];
}
