/** Draws the overlay over the rectangles: texts, selection, flows, ranges, marks, time axis. */

import { LabelPen } from "../../../../widgets/canvas/label_pen";
import type { TextFit } from "../../../../widgets/canvas/text_fit";
import { findRow, type PlacedLane, type TrackLane } from "../../model/lanes/lane_layout";
import type { EventPlace, EventSelection, Hover, Mark } from "../../model/types";
import type { Part } from "../../protocol/payload";
import { drawFlows } from "./draw_flows";
import {
  axisPills,
  drawCursor,
  drawDragBox,
  drawMarks,
  drawRange,
  drawZoomBox,
  markFlag,
  meets,
  stepPill,
} from "./draw_ranges";
import { AXIS_HEIGHT, AXIS_LINE, type LaneBox, type OverlayInput } from "./overlay_input";
import { stepTexts } from "./step_axis";

const LABEL_INSET = 4;

export class Overlay {
  private readonly pen: CanvasRenderingContext2D;
  private readonly fit: TextFit;
  private readonly labels: LabelPen;

  constructor(canvas: HTMLCanvasElement) {
    this.labels = new LabelPen(canvas);
    this.pen = this.labels.pen;
    this.fit = this.labels.fit;
  }

  draw(input: OverlayInput): void {
    const { pen } = this;
    const { dpr, width, height, scene } = input;
    this.labels.begin(scene.width, scene.height + Math.round(AXIS_HEIGHT * dpr), dpr);
    this.drawAxis(input);
    pen.save();
    pen.beginPath();
    pen.rect(0, AXIS_HEIGHT, width, height);
    pen.clip();
    pen.translate(0, AXIS_HEIGHT);
    this.drawLabels(input);
    drawFlows(pen, input);
    this.drawHover(input);
    this.drawSelection(input);
    pen.restore();
    drawRange(pen, input, this.fit);
    drawMarks(pen, input, this.fit);
    drawCursor(pen, input, this.fit);
    if (input.drag?.kind === "zoom") drawZoomBox(pen, input, this.fit);
    if (input.drag?.kind === "box") drawDragBox(pen, input, this.fit);
  }

  /** The position of a mark's flag on the axis. */
  flagOf(mark: Mark, input: Pick<OverlayInput, "view" | "width">) {
    return markFlag(mark, input, this.fit);
  }

  private drawAxis(input: OverlayInput): void {
    const { pen, fit } = this;
    const { axis, colors, width, view } = input;
    const { css } = colors;
    pen.fillStyle = css.panel;
    pen.fillRect(0, 0, width, AXIS_HEIGHT);
    pen.fillStyle = css.border;
    pen.fillRect(0, AXIS_HEIGHT - 1, width, 1);
    pen.fillRect(0, AXIS_LINE - 1, width, 1);
    let free = 0;
    if (axis.origin !== "") {
      pen.fillStyle = css.text;
      pen.fillText(axis.origin, LABEL_INSET, AXIS_LINE / 2);
      free = LABEL_INSET + this.fit.width(axis.origin) + LABEL_INSET * 2;
    }
    const perPs = width / (view.to - view.from);
    const pills = axisPills(input, fit);
    for (const { ps, text } of axis.ticks) {
      const x = Math.round((ps - view.from) * perPs);
      pen.fillStyle = css.border;
      pen.fillRect(x, AXIS_LINE - 7, 1, 6);
      pen.fillStyle = css.muted;
      const box = { x: x + LABEL_INSET, width: pills.length > 0 ? fit.width(text) : 0 };
      if (box.x >= free && !pills.some((pill) => meets(pill, box)))
        pen.fillText(text, box.x, AXIS_LINE / 2);
    }
    this.drawSteps(input);
  }

  /** Draws the starts of steps, and times since then. */
  private drawSteps(input: OverlayInput): void {
    const { pen, fit } = this;
    const { steps, colors, view, width } = input;
    const pill = stepPill(input, fit);
    const { css } = colors;
    const y = (AXIS_LINE + AXIS_HEIGHT) / 2;
    pen.fillStyle = css.muted;
    for (const { from } of steps) {
      const x = Math.round(((from - view.from) / (view.to - view.from)) * width);
      if (x >= 0) pen.fillRect(x, AXIS_LINE, 1, AXIS_HEIGHT - AXIS_LINE);
    }
    for (const { x, text, isName } of stepTexts(steps, view, width, fit)) {
      pen.fillStyle = isName ? css.text : css.muted;
      if (!pill || !meets(pill, { x, width: fit.width(text) })) pen.fillText(text, x, y);
    }
  }

  private drawLabels(input: OverlayInput): void {
    const { pen, fit } = this;
    const { scene, dpr, colors, types } = input;
    let style = "";
    for (let index = 0; index < scene.labelCount; index++) {
      const rect = scene.labels[index];
      const left = scene.rects[rect * 4] / dpr;
      const x = Math.max(left, 0) + LABEL_INSET;
      const right = Math.min(left + scene.rects[rect * 4 + 2] / dpr, input.width) - LABEL_INSET + 1;
      const block = scene.blockOf[rect];
      const type = scene.blocks[block].type[scene.entryOf[rect]];
      const text = fit.fit(types(scene.sources[block]).shortName(type), right - x);
      if (text === "") continue;
      const textColor = colors.textUpon.get(scene.colors[rect]) ?? colors.css.text;
      if (textColor !== style) {
        pen.fillStyle = textColor;
        style = textColor;
      }
      const y = (scene.rects[rect * 4 + 1] + scene.rects[rect * 4 + 3] / 2) / dpr;
      pen.fillText(text, x, y + 0.5);
    }
  }

  private drawHover(input: OverlayInput): void {
    const { hover, selection, colors } = input;
    if (!hover || (selection && isSame(hover, selection))) return;
    for (const box of eventBoxes(input, hover.host, hover.part, hover))
      outline(this.pen, box, colors.css.text, 1);
  }

  private drawSelection(input: OverlayInput): void {
    const { selection, colors } = input;
    if (!selection?.place) return;
    for (const box of eventBoxes(input, selection.host, selection.part, selection.place)) {
      outline(this.pen, { ...box, x: box.x - 1, width: box.width + 2 }, colors.css.background, 4);
      outline(this.pen, { ...box, x: box.x - 1, width: box.width + 2 }, colors.css.accent, 2);
    }
  }
}

/** The boxes of an event: in its lane, in the pinned copy of the lane, or in a collapsed lane. */
function eventBoxes(
  input: OverlayInput,
  host: number,
  part: Part,
  place: Pick<EventPlace, "row" | "startPs" | "durationPs">,
): LaneBox[] {
  const { lanes, groups, view, width } = input;
  const group = groups[host];
  const rowPlace = group ? findRow(input.list, groups, host, part, place.row) : null;
  if (!rowPlace) return [];
  const perPs = width / (view.to - view.from);
  const from = (place.startPs + group.host.offsetPs - view.from) * perPs;
  const to = from + place.durationPs * perPs;
  const x = Math.max(from, -10);
  const size = Math.max(Math.min(to, width + 10) - x, 1);
  return lanes.flatMap((placed) => {
    if (placed.lane.key !== rowPlace.lane.key && placed.lane.key !== rowPlace.key) return [];
    const row = rowBox(placed, rowPlace.depth);
    return row ? [{ x, width: size, ...row }] : [];
  });
}

/** The row of a lane on the canvas; for a collapsed section, its whole header. */
function rowBox({ lane, y, clip }: PlacedLane, depth: number) {
  const rowHeight = lane.kind === "track" ? lane.rowHeight : lane.height - 1;
  const at = lane.kind === "track" ? Math.min(depth, (lane as TrackLane).shownRows - 1) : 0;
  const top = y + at * rowHeight + 1;
  const bottom = top + rowHeight - 1;
  if (bottom <= clip) return null;
  return { y: Math.max(top, clip), height: bottom - Math.max(top, clip) };
}

function outline(pen: CanvasRenderingContext2D, box: LaneBox, color: string, line: number): void {
  pen.strokeStyle = color;
  pen.lineWidth = line;
  pen.strokeRect(Math.round(box.x) + 0.5, box.y + 0.5, Math.round(box.width) - 1, box.height - 1);
}

function isSame(a: Hover, b: EventSelection): boolean {
  return a.id === b.id && a.host === b.host && a.part === b.part;
}
