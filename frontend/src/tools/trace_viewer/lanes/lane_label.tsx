/** The label of one lane: triangle, name, summary and buttons. */
import type { Lane } from "../model/lanes/lane_layout";
import type { TimelineModel } from "../model/model";
import { fold, hide, isFoldable, togglePin } from "./arrange";
import {
  busyShare,
  describeLane,
  formatShare,
  formatValue,
  laneId,
  laneName,
  pinnedFrom,
} from "./lane_facts";

interface LaneLabelProps {
  readonly id: string;
  readonly model: TimelineModel;
  readonly lane: Lane;
  readonly isActive: boolean;
  readonly isDragged: boolean;
  readonly activate: () => void;
  /** `click` is called if the pointer is released without a drag. */
  readonly startDrag: (event: PointerEvent, click?: () => void) => void;
}

const MOST_SHOWN = 300;

export function LaneLabel(props: LaneLabelProps) {
  const { id, model, lane, activate } = props;
  const { kind, isCollapsed, isPinned } = lane;
  const isTrack = kind === "track" || kind === "counter";
  const canFold = isFoldable(lane);
  const name = laneName(lane).slice(0, MOST_SHOWN) || "(no name)";
  const facts = describeLane(lane);
  const from = pinnedFrom(lane, model.hosts.value.length > 1);
  const isPinnedToo = isTrack && model.arrangement.value.pinned.includes(lane.key);
  const isStrip = (kind === "host" || kind === "section") && isCollapsed;
  const isIdle = kind === "section" && lane.isIdle;
  const figure = isStrip || kind === "counter" ? model.figures.value.get(lane.key) : undefined;
  // For the view, like the strip beside it; for the whole trace until that is loaded.
  const share = figure ?? busyShare(lane);
  const busy = isStrip ? formatShare(share) : "";
  const summary = isIdle ? "no events here" : busy === "" ? "" : `${busy} busy`;
  const toggle = () => fold(model, [lane.foldKey], !isCollapsed);
  const unit = kind === "counter" ? scaleOf(lane.item.counter.unit, figure) : "";
  // The accessible name begins with the visible label.
  const seen = [name, from, unit, summary];
  const spoken = [...seen, facts, isPinned ? "pinned" : ""].filter(Boolean).join(", ");
  const classes = ["trace-label", kind, props.isActive ? "active" : ""];
  if (props.isDragged) classes.push("dragged");
  return (
    <div
      id={id}
      class={classes.filter(Boolean).join(" ")}
      data-lane={laneId(lane)}
      role="treeitem"
      aria-level={lane.indent + 1}
      aria-expanded={canFold ? !isCollapsed : undefined}
      aria-selected={props.isActive}
      aria-label={spoken}
      style={{
        transform: `translateY(${lane.top}px)`,
        height: `${lane.height}px`,
        "--indent": lane.indent,
      }}
      onPointerDown={(event) => {
        activate();
        if (!(event.target instanceof HTMLElement && event.target.closest("button")))
          props.startDrag(event, isTrack ? undefined : toggle);
      }}
    >
      <div class="trace-label-row" title={`${laneName(lane).slice(0, 500)}\n${facts}`}>
        {canFold ? (
          <button
            type="button"
            class="bare trace-triangle"
            tabIndex={-1}
            aria-hidden="true"
            onClick={(event) => {
              // With Alt, all lanes of the same kind and parent.
              if (event.altKey) fold(model, sameKind(model, lane), !isCollapsed);
              else toggle();
            }}
          >
            {isCollapsed ? "▸" : "▾"}
          </button>
        ) : (
          <span class="trace-triangle" />
        )}
        <span class="trace-label-name" aria-hidden="true">
          {name}
        </span>{" "}
        {from === "" ? null : (
          <span class="muted trace-label-unit" aria-hidden="true">
            {from}
          </span>
        )}
        {unit === "" ? null : (
          <span
            class={isCollapsed ? "muted trace-label-unit" : "muted trace-label-scale"}
            aria-hidden="true"
            title="The height of the lane, from 0"
          >
            {unit}
          </span>
        )}
        {summary === "" ? null : (
          <span class="trace-label-share" aria-hidden="true">
            {summary}
          </span>
        )}
        <span class="trace-label-buttons" aria-hidden="true">
          {isTrack ? (
            <button
              type="button"
              class={`bare trace-lane-button ${isPinnedToo ? "pressed" : ""}`}
              tabIndex={-1}
              title={isPinnedToo ? "Unpin (P)" : "Pin to the top (P)"}
              onClick={() => togglePin(model, lane.key)}
            >
              <svg viewBox="0 0 16 16" aria-hidden="true">
                <path d="M5 2h6l-1 5 2 2v1H8.6L8 15l-.6-5H4V9l2-2z" />
              </svg>
            </button>
          ) : null}
          {isPinned || kind === "idle" ? null : (
            <button
              type="button"
              class="bare trace-lane-button"
              tabIndex={-1}
              title="Hide (H)"
              onClick={() => hide(model, lane.key)}
            >
              <svg viewBox="0 0 16 16" aria-hidden="true">
                <path d="M4 4l8 8M12 4l-8 8" class="stroke" />
              </svg>
            </button>
          )}
        </span>
      </div>
    </div>
  );
}

/** The value at the top of a counter's lane; its unit if that is unknown. */
function scaleOf(unit: string, most: number | undefined): string {
  return most === undefined || !(most > 0) ? unit : `max ${formatValue(most, unit)}`;
}

/** Keys of the lanes of the same kind below the same parent. */
function sameKind(model: TimelineModel, lane: Lane): string[] {
  return model.lanes
    .peek()
    .scrolled.filter(
      (other) =>
        other.kind === lane.kind &&
        other.host === lane.host &&
        (other.kind !== "track" || lane.kind !== "track" || other.section === lane.section),
    )
    .map((other) => other.foldKey);
}
