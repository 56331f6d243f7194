/** The keys of the focused track tree. */
import type { Binding } from "../../../base/keys";
import type { Lane } from "../model/lanes/lane_layout";
import type { TimelineModel } from "../model/model";
import { fold, hide, isFoldable, move, togglePin } from "./arrange";
import { laneId } from "./lane_facts";

interface LabelActions {
  readonly model: TimelineModel;
  /** The id of the active lane. */
  readonly active: () => string;
  readonly activate: (lane: Lane | undefined) => void;
  /** Lists the events of a track. */
  readonly list: (key: string) => void;
}

export function labelKeys({ model, active, activate, list }: LabelActions): Binding[] {
  const key = (
    keys: readonly string[],
    label: string,
    run: (lanes: readonly Lane[], at: number, lane: Lane) => void,
  ): Binding => ({
    keys,
    label,
    section: "In the tracks",
    run: () => {
      const lanes = lanesOf(model);
      if (lanes.length === 0) return;
      const index = Math.max(
        lanes.findIndex((lane) => laneId(lane) === active()),
        0,
      );
      run(lanes, index, lanes[index]);
    },
  });
  const go = (lanes: readonly Lane[], at: number) =>
    activate(lanes[Math.max(0, Math.min(at, lanes.length - 1))]);
  const shift = (step: 1 | -1) => (lanes: readonly Lane[], _: number, lane: Lane) => {
    const beside = besideOf(lanes, lane, step);
    if (beside) move(model, lane.key, beside.key, step > 0);
  };
  return [
    key(["ArrowDown"], "Next track", (lanes, at) => go(lanes, at + 1)),
    key(["ArrowUp"], "Previous track", (lanes, at) => go(lanes, at - 1)),
    key(["Home"], "First track", (lanes) => go(lanes, 0)),
    key(["End"], "Last track", (lanes) => go(lanes, lanes.length - 1)),
    key(["ArrowRight"], "Expand", (lanes, at, lane) => {
      if (lane.isCollapsed) fold(model, [lane.foldKey], false);
      else if (lanes[at + 1]?.indent > lane.indent) go(lanes, at + 1);
    }),
    key(["ArrowLeft"], "Collapse, or go to the parent", (lanes, at, lane) => {
      if (!lane.isCollapsed && isFoldable(lane)) fold(model, [lane.foldKey], true);
      else activate(lanes.slice(0, at).findLast((above) => above.indent < lane.indent));
    }),
    key(["Enter"], "List the events of the track", (_, __, lane) => {
      if (lane.kind === "track") list(lane.key);
      else fold(model, [lane.foldKey], !lane.isCollapsed);
    }),
    key(["p"], "Pin to the top, or unpin", (_, __, lane) => {
      if (lane.kind === "track" || lane.kind === "counter") togglePin(model, lane.key);
    }),
    key(["h", "Delete"], "Hide", (lanes, at, lane) => {
      if (lane.kind === "idle") return;
      activate(lanes[at + 1] ?? lanes[at - 1]);
      hide(model, lane.key);
    }),
    key(["Alt+ArrowDown"], "Move down", shift(1)),
    key(["Alt+ArrowUp"], "Move up", shift(-1)),
  ];
}

/** Pinned lanes first, as on the screen. */
export function lanesOf({ lanes }: TimelineModel): readonly Lane[] {
  const { pinned, scrolled } = lanes.peek();
  return [...pinned, ...scrolled];
}

/** The previous or next lane with the same parent; null at the end. */
function besideOf(lanes: readonly Lane[], lane: Lane, step: 1 | -1): Lane | null {
  for (let index = lanes.indexOf(lane) + step; index >= 0 && index < lanes.length; index += step) {
    const other = lanes[index];
    if (other.isPinned !== lane.isPinned || other.indent < lane.indent) return null;
    if (other.indent === lane.indent) return other;
  }
  return null;
}
