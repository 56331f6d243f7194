/** The tree of hosts, sections and tracks left of the canvas: lane by lane at the same heights. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { fold, hide, isFoldable, move, togglePin } from "./arrange";
import { laneId } from "./lane_facts";
import { LaneLabel } from "./lane_label";
import { firstLaneBelow, type Lane } from "./lanes";
import type { TimelineModel } from "./model";
import { scrollTo } from "./reveal";
import { useReorder } from "./use_reorder";

interface LabelsProps {
  readonly model: TimelineModel;
  /** Enter on a track: its events as a list. */
  readonly list: (key: string) => void;
  /** Without the canvas beside it. */
  readonly isAlone: boolean;
}

const OVERSCAN = 4;
const LABEL = 22;

export function Labels({ model, list, isAlone }: LabelsProps) {
  const id = useId();
  const tree = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const active = useSignal("");
  // Which lanes there are elements for; scrolling within them only moves them.
  const window = useSignal({ first: 0, last: 0 });
  const { pinned, pinnedHeight, scrolled } = model.lanes.value;
  const reorder = useReorder(model, tree);

  useSignalEffect(() => {
    const lanes = model.lanes.value;
    const top = model.scrollTop.value;
    const bottom = top + model.height.value - lanes.pinnedHeight;
    const from = firstLaneBelow(lanes.scrolled, top);
    const to = firstLaneBelow(lanes.scrolled, bottom) + 1;
    const { first, last } = window.peek();
    if (from < first || to > last || from > first + 4 * OVERSCAN || lanes.scrolled.length < last)
      window.value = {
        first: Math.max(from - OVERSCAN, 0),
        last: Math.min(to + OVERSCAN, lanes.scrolled.length),
      };
    if (inner.current) inner.current.style.transform = `translateY(${-top}px)`;
    keepInSight(inner.current, lanes.scrolled[from], top);
  });

  // Where there is no canvas to say how high it is.
  useEffect(() => {
    const element = tree.current;
    if (!element || !isAlone) return;
    const observer = new ResizeObserver(() => {
      model.height.value = element.clientHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [model, isAlone]);

  const all = [...pinned, ...scrolled];
  const at = all.findIndex((lane) => laneId(lane) === active.value);
  const activate = (lane: Lane | undefined) => {
    if (!lane) return;
    active.value = laneId(lane);
    if (!lane.isPinned) scrollTo(model, lane.top, LABEL);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== tree.current || event.ctrlKey || event.metaKey) return;
    const lane = all[at];
    if (event.altKey) {
      if (!lane || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
      const isAfter = event.key === "ArrowDown";
      const beside = besideOf(all, lane, isAfter ? 1 : -1);
      if (beside) move(model, lane.key, beside.key, isAfter);
      event.preventDefault();
      return;
    }
    if (!runTreeKey(event.key)) return;
    event.preventDefault();

    function runTreeKey(key: string): boolean {
      switch (key) {
        case "ArrowDown":
          activate(all[Math.min(at + 1, all.length - 1)]);
          return true;
        case "ArrowUp":
          activate(all[Math.max(at - 1, 0)]);
          return true;
        case "Home":
          activate(all[0]);
          return true;
        case "End":
          activate(all.at(-1));
          return true;
        case "ArrowRight":
          if (!lane) return false;
          if (lane.isCollapsed) fold(model, [lane.key], false);
          else if (all[at + 1]?.indent > lane.indent) activate(all[at + 1]);
          return true;
        case "ArrowLeft":
          if (!lane) return false;
          if (!lane.isCollapsed && isFoldable(lane) && lane.kind !== "counter")
            fold(model, [lane.key], true);
          else activate(all.slice(0, at).findLast((one) => one.indent < lane.indent));
          return true;
        case "Enter":
          if (!lane) return false;
          if (lane.kind === "track") list(lane.key);
          else fold(model, [lane.key], !lane.isCollapsed);
          return true;
        case "p":
          if (lane?.kind !== "track" && lane?.kind !== "counter") return false;
          togglePin(model, lane.key);
          return true;
        case "h":
        case "Delete":
          if (!lane) return false;
          activate(all[at + 1] ?? all[at - 1]);
          hide(model, lane.key);
          return true;
        default:
          return false;
      }
    }
  };
  const { first, last } = window.value;
  const shown = scrolled.slice(first, Math.min(last, scrolled.length));
  const isShown = at >= 0 && (at < pinned.length || shown.includes(all[at]));
  const label = (lane: Lane) => (
    <LaneLabel
      key={laneId(lane)}
      id={`${id}-${laneId(lane)}`}
      model={model}
      lane={lane}
      isActive={laneId(lane) === active.value}
      isDragged={reorder.dragged.value === lane.key}
      activate={() => {
        active.value = laneId(lane);
      }}
      startDrag={(event) => reorder.start(event, lane)}
    />
  );
  return (
    <div
      class="trace-labels"
      ref={tree}
      role="tree"
      aria-label="Hosts, sections and tracks"
      aria-description="Arrow keys move and fold, Enter lists the events of a track, P pins, H hides, Alt with arrows reorders"
      tabIndex={0}
      aria-activedescendant={isShown ? `${id}-${laneId(all[at])}` : undefined}
      onKeyDown={onKeyDown}
      onFocus={(event) => {
        if (event.target === tree.current && at < 0) active.value = all[0] ? laneId(all[0]) : "";
      }}
      onWheel={(event) => {
        if (event.ctrlKey) return;
        const { scrolledHeight } = model.lanes.peek();
        const most = Math.max(scrolledHeight - model.height.peek() + pinnedHeight, 0);
        const top = model.scrollTop.peek() + event.deltaY;
        model.scrollTop.value = Math.max(0, Math.min(top, most));
      }}
    >
      <div class="trace-pinned" style={{ height: `${pinnedHeight}px` }} role="presentation">
        {pinned.map(label)}
      </div>
      <div class="trace-scrolled" role="presentation">
        <div ref={inner} role="presentation">
          {shown.map(label)}
        </div>
      </div>
      {reorder.line.value === null ? null : (
        <div
          class="trace-drop"
          style={{ transform: `translateY(${reorder.line.value}px)` }}
          aria-hidden="true"
        />
      )}
      {all.length === 0 && model.hosts.value.length > 0 ? (
        <p class="trace-no-lanes muted">
          {model.arrangement.value.trackFilter === ""
            ? "Every track is hidden."
            : `No track has “${model.arrangement.value.trackFilter.slice(0, 60)}” in its name.`}
        </p>
      ) : null}
    </div>
  );
}

/** The label of a lane whose top is above the edge stays at the edge. */
function keepInSight(inner: HTMLElement | null, lane: Lane | undefined, top: number): void {
  const kept = inner?.querySelector<HTMLElement>(".kept");
  const element = lane
    ? inner?.querySelector<HTMLElement>(
        `[data-lane="${CSS.escape(laneId(lane))}"] .trace-label-row`,
      )
    : null;
  if (kept && kept !== element) {
    kept.classList.remove("kept");
    kept.style.transform = "";
  }
  if (!element || !lane) return;
  const down = Math.max(Math.min(top - lane.top, lane.height - LABEL), 0);
  element.classList.add("kept");
  element.style.transform = down > 0 ? `translateY(${down}px)` : "";
}

/** The lane of the same parent above or below, null at the end. */
function besideOf(all: readonly Lane[], lane: Lane, step: 1 | -1): Lane | null {
  const start = all.indexOf(lane);
  for (let at = start + step; at >= 0 && at < all.length; at += step) {
    const other = all[at];
    if (other.isPinned !== lane.isPinned || other.indent < lane.indent) return null;
    if (other.indent === lane.indent) return other;
  }
  return null;
}
