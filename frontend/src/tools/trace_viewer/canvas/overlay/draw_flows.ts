/** Draws the flows of the selection: arrows from the end of one event to the start of another. */
import { findRow } from "../../model/lanes/lane_layout";
import type { FlowEnd } from "../../model/types";
import type { OverlayInput } from "./overlay_input";

const HEAD = 6;
/** Arrows start and end horizontally. */
const LEAST_BEND = 24;

type FlowInput = Pick<
  OverlayInput,
  "flows" | "selection" | "list" | "groups" | "view" | "width" | "height" | "scrollTop"
> & { readonly colors: Pick<OverlayInput["colors"], "css"> };

export function drawFlows(pen: CanvasRenderingContext2D, input: FlowInput): void {
  const { flows, selection, colors } = input;
  if (!selection || flows.length === 0) return;
  for (const { from, to, kind } of flows) {
    const start = endPoint(input, from, true);
    const end = endPoint(input, to, false);
    if (!start || !end) continue;
    // Drawn twice: a border in the background color sets arrows apart from what they cross.
    for (const [color, width] of [
      [colors.css.background, 4],
      [colors.css.text, 1.5],
    ] as const) {
      pen.strokeStyle = color;
      pen.fillStyle = color;
      pen.lineWidth = width;
      pen.setLineDash(kind === "launch" || width > 2 ? [] : [5, 3]);
      const bend = Math.max(Math.abs(end.x - start.x) / 2, LEAST_BEND);
      pen.beginPath();
      pen.moveTo(start.x, start.y);
      pen.bezierCurveTo(start.x + bend, start.y, end.x - bend - HEAD, end.y, end.x - HEAD, end.y);
      pen.stroke();
    }
    pen.setLineDash([]);
    pen.beginPath();
    pen.moveTo(end.x, end.y);
    pen.lineTo(end.x - HEAD - 1, end.y - HEAD / 2 - 1);
    pen.lineTo(end.x - HEAD - 1, end.y + HEAD / 2 + 1);
    pen.fill();
  }
}

/** Browsers draw lines inaccurately far outside the canvas. */
const FAR = 4000;

/**
 * The position of an event's end or start in CSS pixels of the lanes; null if its row is hidden.
 * Arrows go to pinned tracks if possible, since these are always visible.
 */
function endPoint(
  input: FlowInput,
  { row, startPs, durationPs }: FlowEnd,
  isEnd: boolean,
): { readonly x: number; readonly y: number } | null {
  const { list, groups, selection, view, width, scrollTop, height } = input;
  if (!selection) return null;
  const rowPlace = findRow(list, groups, selection.host, selection.part, row);
  if (!rowPlace) return null;
  const pinned = list.pinned.find(({ key }) => key === rowPlace.key);
  const lane = pinned ?? rowPlace.lane;
  const inLane =
    lane.kind === "track"
      ? (Math.min(rowPlace.depth, lane.shownRows - 1) + 0.5) * lane.rowHeight
      : lane.height / 2;
  const ps = startPs + lane.host.offsetPs + (isEnd ? durationPs : 0);
  const x = ((ps - view.from) / (view.to - view.from)) * width;
  const y = lane.top + inLane + (pinned ? 0 : list.pinnedHeight - scrollTop);
  return {
    x: Math.max(-FAR, Math.min(x, width + FAR)),
    y: Math.max(-FAR, Math.min(y, height + FAR)),
  };
}
