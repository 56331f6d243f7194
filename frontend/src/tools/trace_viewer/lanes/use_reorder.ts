/** Moves a lane by dragging it among lanes with the same parent. */
import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Lane } from "../model/lanes/lane_layout";
import type { TimelineModel } from "../model/model";
import { move, siblings } from "./arrange";

interface Reorder {
  /** The key of the dragged lane, or "". */
  readonly dragged: Signal<string>;
  /** The drop position, in pixels from the top of the tree. */
  readonly line: Signal<number | null>;
  /** `click` is called if the pointer is released without a drag. */
  readonly start: (event: PointerEvent, lane: Lane, click?: () => void) => void;
}

const SLACK = 5;

export function useReorder(model: TimelineModel, tree: RefObject<HTMLElement | null>): Reorder {
  const dragged = useSignal("");
  const line = useSignal<number | null>(null);
  const stop = useRef<() => void>(() => {});
  useEffect(() => () => stop.current(), []);
  const start = (event: PointerEvent, lane: Lane, click?: () => void) => {
    if (event.button !== 0) return;
    const from = event.clientY;
    const family = new Set(siblings(model.groups.peek(), lane.key));
    let target: { lane: Lane; isAfter: boolean } | null = null;
    const onMove = (moved: PointerEvent) => {
      if (dragged.peek() === "" && Math.abs(moved.clientY - from) < SLACK) return;
      dragged.value = lane.key;
      const top = tree.current?.getBoundingClientRect().top ?? 0;
      target = targetAt(model, lane, family, moved.clientY - top);
      line.value = target && edgeOf(model, target);
    };
    const end = (ended: Event) => {
      const isClick = ended.type === "pointerup" && dragged.peek() === "";
      if (ended.type === "pointerup" && target)
        move(model, lane.key, target.lane.key, target.isAfter);
      stop.current();
      if (isClick) click?.();
    };
    const onKey = (pressed: KeyboardEvent) => {
      if (pressed.key === "Escape") stop.current();
    };
    stop.current();
    stop.current = () => {
      dragged.value = "";
      line.value = null;
      removeEventListener("pointermove", onMove);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      removeEventListener("keydown", onKey);
    };
    addEventListener("pointermove", onMove);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
    addEventListener("keydown", onKey);
  };
  return { dragged, line, start };
}

/** The drop position for `lane` nearest to `y` pixels below the top of the tree. */
function targetAt(
  model: TimelineModel,
  lane: Lane,
  family: ReadonlySet<string>,
  y: number,
): { lane: Lane; isAfter: boolean } | null {
  const { pinned, pinnedHeight, scrolled } = model.lanes.peek();
  const among = lane.isPinned ? pinned : scrolled.filter((other) => family.has(other.key));
  const at = lane.isPinned ? y : y - pinnedHeight + model.scrollTop.peek();
  let best: { lane: Lane; isAfter: boolean; distance: number } | null = null;
  for (const other of among) {
    for (const isAfter of [false, true]) {
      const distance = Math.abs((isAfter ? bottomOf(model, other) : other.top) - at);
      if (!best || distance < best.distance) best = { lane: other, isAfter, distance };
    }
  }
  return best && best.lane.key !== lane.key ? best : null;
}

function edgeOf(model: TimelineModel, target: { lane: Lane; isAfter: boolean }): number {
  const { lane, isAfter } = target;
  const y = isAfter ? bottomOf(model, lane) : lane.top;
  return lane.isPinned ? y : y + model.lanes.peek().pinnedHeight - model.scrollTop.peek();
}

/** The bottom of a lane including its descendants. */
function bottomOf(model: TimelineModel, lane: Lane): number {
  const { scrolled } = model.lanes.peek();
  if (lane.isPinned || lane.kind === "track" || lane.kind === "counter")
    return lane.top + lane.height;
  const next = scrolled.find((other) => other.top > lane.top && other.indent <= lane.indent);
  const last = scrolled[scrolled.length - 1];
  return next ? next.top : last.top + last.height;
}
