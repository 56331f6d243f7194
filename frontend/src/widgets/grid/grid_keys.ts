/** The keys of a focused table. */
import type { Binding } from "../../base/keys";

interface GridActions {
  readonly at: number;
  /** Rows per screen. */
  readonly page: number;
  readonly length: number;
  readonly moveTo: (position: number) => void;
  readonly toggle: (position: number, isOpen?: boolean) => void;
  readonly copy: () => void;
  readonly toTimeline?: () => void;
}

export function gridKeys(actions: GridActions): Binding[] {
  const { at, page, length, moveTo, toggle, copy, toTimeline } = actions;
  const key = (keys: readonly string[], label: string, run: () => void): Binding => ({
    keys,
    label,
    section: "In a table",
    run,
  });
  return [
    key(["ArrowDown"], "Next row", () => moveTo(at + 1)),
    key(["ArrowUp"], "Previous row", () => moveTo(at - 1)),
    key(["PageDown"], "One screen down", () => moveTo(at + page)),
    key(["PageUp"], "One screen up", () => moveTo(at - page)),
    key(["Home"], "First row", () => moveTo(0)),
    key(["End"], "Last row", () => moveTo(length - 1)),
    key(["Enter", " "], "Open or close the row", () => toggle(at)),
    key(["ArrowRight"], "Open the row", () => toggle(at, true)),
    key(["ArrowLeft"], "Close the row", () => toggle(at, false)),
    key(["c"], "Copy the name of the row", copy),
    ...(toTimeline ? [key(["g"], "Show the row on the timeline", toTimeline)] : []),
  ];
}
