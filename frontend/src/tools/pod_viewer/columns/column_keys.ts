/** The keys of the focused column chart. */
import type { Binding } from "../../../base/keys";

interface ColumnActions {
  readonly move: (by: number) => void;
  readonly choose: () => void;
  readonly leave: () => void;
}

const PAGE = 10;
const EVER = 1e7;

export function columnKeys({ move, choose, leave }: ColumnActions): readonly Binding[] {
  const section = "Workers of a step";
  return [
    { keys: ["ArrowLeft"], label: "Previous worker", section, run: () => move(-1) },
    { keys: ["ArrowRight"], label: "Next worker", section, run: () => move(1) },
    { keys: ["PageUp"], label: "Ten workers back", section, run: () => move(-PAGE) },
    { keys: ["PageDown"], label: "Ten workers forward", section, run: () => move(PAGE) },
    { keys: ["Home"], label: "First worker", section, run: () => move(-EVER) },
    { keys: ["End"], label: "Last worker", section, run: () => move(EVER) },
    { keys: ["Enter"], label: "Choose the worker, or none", section, run: choose },
    { keys: ["Escape"], label: "Clear the worker", section, run: leave },
  ];
}
