/** The tree of hosts, sections and tracks to the left of the canvas, aligned with its lanes. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import { bindKeys, runKey } from "../../../base/keys";
import { firstLaneBelow, type Lane } from "../model/lanes/lane_layout";
import type { TimelineModel } from "../model/model";
import { scrollTo } from "../page/selection/reveal";
import { labelKeys, lanesOf } from "./label_keys";
import { laneId } from "./lane_facts";
import { LaneLabel } from "./lane_label";
import { useReorder } from "./use_reorder";

interface LabelsProps {
  readonly model: TimelineModel;
  /** Called for Enter on a track: lists its events. */
  readonly list: (key: string) => void;
  /** Whether it is shown without the canvas. */
  readonly isAlone: boolean;
}

const OVERSCAN = 4;
const LABEL = 22;

export function Labels({ model, list, isAlone }: LabelsProps) {
  const id = useId();
  const tree = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const active = useSignal("");
  // The range of lanes that have elements; scrolling within it only moves them.
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

  // Without a canvas, the height is measured here.
  useEffect(() => {
    const element = tree.current;
    if (!element || !isAlone) return;
    const observer = new ResizeObserver(() => {
      model.height.value = element.clientHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [model, isAlone]);

  const keys = useMemo(
    () =>
      labelKeys({
        model,
        list,
        active: () => active.peek(),
        activate: (lane) => {
          if (!lane) return;
          active.value = laneId(lane);
          if (!lane.isPinned) scrollTo(model, lane.top, LABEL);
        },
      }),
    [model, list],
  );
  // For the help.
  useEffect(() => bindKeys(keys, true), [keys]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== tree.current) return;
    const moving = keys.find((key) => event.altKey && key.keys[0] === `Alt+${event.key}`);
    if (!moving) runKey(keys, event);
    else {
      event.preventDefault();
      moving.run(event);
    }
  };
  const { first, last } = window.value;
  const shown = scrolled.slice(first, Math.min(last, scrolled.length));
  const isActive = (lane: Lane) => laneId(lane) === active.value;
  // Keys of lanes may hold spaces, which ids may not.
  const idOf = (list: readonly Lane[], at: number) => `${id}-${list === pinned ? "p" : "s"}${at}`;
  const activeId = [pinned, shown].flatMap((list) => {
    const index = list.findIndex(isActive);
    return index < 0 ? [] : [idOf(list, index)];
  })[0];
  const label = (lane: Lane, at: number, list: readonly Lane[]) => (
    <LaneLabel
      key={laneId(lane)}
      id={idOf(list, at)}
      model={model}
      lane={lane}
      isActive={isActive(lane)}
      isDragged={reorder.dragged.value === lane.key}
      activate={() => {
        active.value = laneId(lane);
      }}
      startDrag={(event, click) => reorder.start(event, lane, click)}
    />
  );
  return (
    <div
      class="inner-focus trace-labels"
      ref={tree}
      role="tree"
      aria-label="Hosts, sections and tracks"
      aria-description="Arrow keys move and fold, Enter lists the events of a track, P pins, H hides, Alt with arrows reorders"
      tabIndex={0}
      aria-activedescendant={activeId}
      onKeyDown={onKeyDown}
      onFocus={(event) => {
        if (event.target !== tree.current) return;
        const lanes = lanesOf(model);
        if (!lanes.some((lane) => laneId(lane) === active.peek()))
          active.value = lanes[0] ? laneId(lanes[0]) : "";
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
      {pinned.length + scrolled.length === 0 && model.hosts.value.length > 0 ? (
        <p class="trace-no-lanes muted">
          {model.arrangement.value.trackFilter === ""
            ? "All tracks are hidden."
            : `No track name contains “${model.arrangement.value.trackFilter.slice(0, 60)}”.`}
        </p>
      ) : null}
    </div>
  );
}

/** The label of a lane that begins above the visible area sticks to its edge. */
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
