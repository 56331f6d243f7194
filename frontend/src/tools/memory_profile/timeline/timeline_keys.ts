/** The keys of the timeline that has the focus. */
import type { Binding } from "../../../base/keys";

interface TimelineActions {
  /** To the point that many later. */
  readonly move: (by: number) => void;
  readonly choose: () => void;
  readonly zoomBy: (factor: number) => void;
  /** By that part of the window. */
  readonly pan: (share: number) => void;
  readonly peak: () => void;
  readonly reset: () => void;
}

const PAGE = 25;
const EVER = 1e9;

export function memoryTimelineKeys(actions: TimelineActions): readonly Binding[] {
  const { move, choose, zoomBy, pan, peak, reset } = actions;
  const section = "Memory timeline";
  return [
    { keys: ["ArrowLeft"], label: "Previous event", section, run: () => move(-1) },
    { keys: ["ArrowRight"], label: "Next event", section, run: () => move(1) },
    { keys: ["PageUp"], label: `${PAGE} events back`, section, run: () => move(-PAGE) },
    { keys: ["PageDown"], label: `${PAGE} events on`, section, run: () => move(PAGE) },
    { keys: ["Home"], label: "First event", section, run: () => move(-EVER) },
    { keys: ["End"], label: "Last event", section, run: () => move(EVER) },
    { keys: ["Enter"], label: "Break down what is in use at the event", section, run: choose },
    { keys: ["p"], label: "Break down the peak", section, run: peak },
    { keys: ["+", "="], label: "Zoom in", section, run: () => zoomBy(0.5) },
    { keys: ["-"], label: "Zoom out", section, run: () => zoomBy(2) },
    { keys: ["["], label: "Earlier", section, run: () => pan(-0.5) },
    { keys: ["]"], label: "Later", section, run: () => pan(0.5) },
    {
      keys: ["Escape"],
      label: "Clear the event, then show the whole recording",
      section,
      run: reset,
    },
  ];
}
