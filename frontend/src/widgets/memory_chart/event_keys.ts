/** The keys of a focused memory chart. */
import type { Binding } from "../../base/keys";

interface EventLabels {
  readonly section: string;
  readonly choose: string;
  readonly peak: string;
  readonly reset: string;
}

interface EventActions {
  /** Moves by this many events. */
  readonly move: (by: number) => void;
  readonly choose: () => void;
  readonly peak: () => void;
  readonly zoomBy: (factor: number) => void;
  /** Pans by this part of the window, if the chart has one. */
  readonly pan?: (share: number) => void;
  readonly reset: () => void;
}

const PAGE = 25;
const EVER = 1e9;

export function eventKeys(labels: EventLabels, actions: EventActions): readonly Binding[] {
  const { move, choose, peak, zoomBy, pan, reset } = actions;
  const { section } = labels;
  return [
    { keys: ["ArrowLeft"], label: "Previous event", section, run: () => move(-1) },
    { keys: ["ArrowRight"], label: "Next event", section, run: () => move(1) },
    { keys: ["PageUp"], label: `${PAGE} events back`, section, run: () => move(-PAGE) },
    { keys: ["PageDown"], label: `${PAGE} events on`, section, run: () => move(PAGE) },
    { keys: ["Home"], label: "First event", section, run: () => move(-EVER) },
    { keys: ["End"], label: "Last event", section, run: () => move(EVER) },
    { keys: ["Enter"], label: labels.choose, section, run: choose },
    { keys: ["p"], label: labels.peak, section, run: peak },
    { keys: ["+", "="], label: "Zoom in", section, run: () => zoomBy(0.5) },
    { keys: ["-"], label: "Zoom out", section, run: () => zoomBy(2) },
    ...(pan
      ? [
          { keys: ["["], label: "Earlier", section, run: () => pan(-0.5) },
          { keys: ["]"], label: "Later", section, run: () => pan(0.5) },
        ]
      : []),
    { keys: ["Escape"], label: labels.reset, section, run: reset },
  ];
}
