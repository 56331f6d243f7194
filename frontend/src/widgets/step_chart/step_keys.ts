/** The keys of a focused step chart. */
import type { Binding } from "../../base/keys";

interface StepActions {
  /** Moves by this many columns to the right. */
  readonly move: (by: number) => void;
  readonly open: () => void;
  /** Scales the range by this factor. */
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
