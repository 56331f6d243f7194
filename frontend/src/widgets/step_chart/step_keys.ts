/** The keys of a step chart that has the focus. */
import type { Binding } from "../../base/keys";

interface StepActions {
  /** To the column that many to the right. */
  readonly move: (by: number) => void;
  readonly open: () => void;
  /** Makes the range that many times as long. */
  readonly zoomBy: (factor: number) => void;
  readonly reset: () => void;
}

const PAGE = 10;
const EVER = 1e9;

export function stepKeys({ move, open, zoomBy, reset }: StepActions): readonly Binding[] {
  const section = "Step chart";
  return [
    { keys: ["ArrowLeft"], label: "Previous step", section, run: () => move(-1) },
    { keys: ["ArrowRight"], label: "Next step", section, run: () => move(1) },
    { keys: ["PageUp"], label: "Ten steps back", section, run: () => move(-PAGE) },
    { keys: ["PageDown"], label: "Ten steps forward", section, run: () => move(PAGE) },
    { keys: ["Home"], label: "First step", section, run: () => move(-EVER) },
    { keys: ["End"], label: "Last step", section, run: () => move(EVER) },
    { keys: ["Enter"], label: "Open the step", section, run: open },
    { keys: ["+", "="], label: "Zoom in", section, run: () => zoomBy(0.5) },
    { keys: ["-"], label: "Zoom out", section, run: () => zoomBy(2) },
    { keys: ["Escape"], label: "Clear the step, then show all steps", section, run: reset },
  ];
}
