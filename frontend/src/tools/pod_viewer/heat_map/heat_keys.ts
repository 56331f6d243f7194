/** The keys of the focused heat map. */
import type { Binding } from "../../../base/keys";

interface HeatActions {
  readonly move: (bySteps: number, byWorkers: number) => void;
  readonly choose: () => void;
  readonly leave: () => void;
}

const PAGE = 10;
const EVER = 1e7;

export function heatKeys({ move, choose, leave }: HeatActions): readonly Binding[] {
  const section = "Workers and steps";
  return [
    { keys: ["ArrowLeft"], label: "Previous step", section, run: () => move(-1, 0) },
    { keys: ["ArrowRight"], label: "Next step", section, run: () => move(1, 0) },
    { keys: ["ArrowUp"], label: "Worker above", section, run: () => move(0, -1) },
    { keys: ["ArrowDown"], label: "Worker below", section, run: () => move(0, 1) },
    { keys: ["PageUp"], label: "Ten workers up", section, run: () => move(0, -PAGE) },
    { keys: ["PageDown"], label: "Ten workers down", section, run: () => move(0, PAGE) },
    { keys: ["Home"], label: "First step", section, run: () => move(-EVER, 0) },
    { keys: ["End"], label: "Last step", section, run: () => move(EVER, 0) },
    { keys: ["Enter"], label: "Choose step and worker", section, run: choose },
    { keys: ["Escape"], label: "Hide the cursor", section, run: leave },
  ];
}
