/** The keys of the timeline; the help lists them from here. */
import type { Binding } from "../../../base/keys";
import type { PointerTool } from "../model/types";
import type { Move } from "../protocol/questions";
import type { Direction } from "./motion";

export interface KeyActions {
  readonly use: (tool: PointerTool) => void;
  readonly press: (direction: Direction) => void;
  /** `isRepeated`: the key is held. */
  readonly go: (move: Move, isRepeated?: boolean) => void;
  readonly fit: () => void;
  readonly showAll: () => void;
  readonly back: () => void;
  readonly search: () => void;
  readonly mark: () => void;
  readonly leave: () => void;
}

/** The heading of these keys in the help. */
const TIMELINE_KEYS = "Timeline";

/** Keys that also work in the list of events: they move, zoom or search the same view. */
const IN_LIST = ["w", "s", "a", "d", ",", ".", "f", "0", "Backspace", "/", "Escape"];

/** The keys while events are listed. The table handles the arrow keys. */
export function listKeys(actions: KeyActions): readonly Binding[] {
  return timelineKeys(actions).filter(({ keys }) => IN_LIST.includes(keys[0]));
}

export function timelineKeys(actions: KeyActions): readonly Binding[] {
  const bind = (keys: readonly string[], label: string, run: Binding["run"]): Binding => ({
    keys,
    label,
    section: TIMELINE_KEYS,
    run,
  });
  const go = (key: string, label: string, move: Move) =>
    bind([key], label, ({ repeat }) => actions.go(move, repeat));
  return [
    bind(["w"], "Zoom in", () => actions.press("in")),
    bind(["s"], "Zoom out", () => actions.press("out")),
    bind(["a"], "Pan left", () => actions.press("left")),
    bind(["d"], "Pan right", () => actions.press("right")),
    go("ArrowLeft", "Previous event on the track", "previous"),
    go("ArrowRight", "Next event on the track", "next"),
    go("ArrowUp", "Enclosing event", "parent"),
    go("ArrowDown", "First nested event", "child"),
    go(",", "Previous event of the same name", "previous_same"),
    go(".", "Next event of the same name", "next_same"),
    bind(["f"], "Zoom to the selection", actions.fit),
    bind(["0"], "Zoom to the whole trace", actions.showAll),
    bind(["Backspace"], "Undo the last zoom, pan or range", actions.back),
    bind(["/"], "Search", actions.search),
    bind(["m"], "Mark the selection or the pointer position; again: edit the label", actions.mark),
    bind(["1"], "Select", () => actions.use("select")),
    bind(["2"], "Pan", () => actions.use("pan")),
    bind(["3"], "Zoom", () => actions.use("zoom")),
    bind(["4"], "Timing", () => actions.use("timing")),
    bind(["Escape"], "Cancel the drag, or clear the range or the selection", actions.leave),
  ];
}

/** The direction in which a key moves while it is held. */
export const HELD_KEYS: Readonly<Record<string, Direction>> = {
  w: "in",
  s: "out",
  a: "left",
  d: "right",
};
