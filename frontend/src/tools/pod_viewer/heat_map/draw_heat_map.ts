/** Draws the heat map and its axes. */
import { hatch, type Pen } from "../../../widgets/chart/pen";
import type { Domain } from "../measures";
import type { HeatPlan } from "./heat_plan";
import { RAMP_LENGTH, type Ramp, rampIndex } from "./ramp";

export interface HeatDrawing {
  readonly plan: HeatPlan;
  readonly cells: Float32Array;
  readonly domain: Domain;
  readonly ramp: Ramp;
  /** Columns without a fully recorded step. */
  readonly isTruncated: readonly boolean[];
  /** Columns that contain an outlier. */
  readonly isOutlier: readonly boolean[];
  readonly rowLabels: readonly AxisLabel[];
  readonly columnLabels: readonly AxisLabel[];
  /** Rows at which another host begins. */
  readonly borders: readonly number[];
  /** CSS pixels left of the picture. */
  readonly left: number;
  readonly colors: { readonly background: string; readonly text: string; readonly border: string };
  readonly font: string;
}

/** A label and the position of its center, in CSS pixels of the picture. */
export interface AxisLabel {
  readonly text: string;
  readonly middle: number;
}

const AXIS_HEIGHT = 20;
/** Room for half of the last column's label. */
export const RIGHT = 14;
/** Cells of at least this size are separated by lines. */
const LINES_FROM = 6;
/** Half the width of an outlier's mark, and its height. */
const OUTLIER = 5;

export function heatSize({ plan, left }: Pick<HeatDrawing, "plan" | "left">) {
  return { width: left + plan.width + RIGHT, height: plan.height + AXIS_HEIGHT };
}

export function drawHeat(pen: Pen, drawing: HeatDrawing): void {
  drawCells(pen, drawing);
  drawLines(pen, drawing);
  drawLabels(pen, drawing);
  drawOutliers(pen, drawing);
}

/** An image with one pixel per cell; missing cells are transparent. */
function cellImage({ plan, cells, domain, ramp }: HeatDrawing): HTMLCanvasElement {
  const image = document.createElement("canvas");
  image.width = Math.max(plan.columns, 1);
  image.height = Math.max(plan.rows, 1);
  const pen = image.getContext("2d");
  if (!pen || cells.length === 0) return image;
  const pixels = pen.createImageData(plan.columns, plan.rows);
  const words = new Uint32Array(pixels.data.buffer);
  const colors = new Uint32Array(RAMP_LENGTH);
  for (let index = 0; index < RAMP_LENGTH; index++)
    colors[index] =
      (255 << 24) | (ramp[index * 3 + 2] << 16) | (ramp[index * 3 + 1] << 8) | ramp[index * 3];
  const span = domain.high - domain.low;
  for (let cell = 0; cell < cells.length; cell++) {
    const value = cells[cell];
    if (!Number.isNaN(value)) words[cell] = colors[rampIndex((value - domain.low) / span)];
  }
  pen.putImageData(pixels, 0, 0);
  return image;
}

function drawCells(pen: Pen, drawing: HeatDrawing): void {
  const { plan, left, colors, isTruncated } = drawing;
  hatch(pen, colors.border, { left, top: 0, width: plan.width, height: plan.height });
  pen.imageSmoothingEnabled = false;
  pen.drawImage(cellImage(drawing), left, 0, plan.width, plan.height);
  pen.globalAlpha = 0.4;
  isTruncated.forEach((isCut, column) => {
    if (!isCut) return;
    const [start, width] = [left + column * plan.columnWidth, Math.max(plan.columnWidth, 1)];
    hatch(pen, colors.text, { left: start, top: 0, width, height: plan.height });
  });
  pen.globalAlpha = 1;
}

function drawLines(pen: Pen, { plan, left, colors, borders }: HeatDrawing): void {
  pen.fillStyle = colors.background;
  if (plan.columnWidth >= LINES_FROM) {
    for (let column = 1; column < plan.columns; column++)
      pen.fillRect(Math.round(left + column * plan.columnWidth) - 1, 0, 1, plan.height);
  }
  if (plan.rowHeight >= LINES_FROM) {
    for (let row = 1; row < plan.rows; row++)
      pen.fillRect(left, row * plan.rowHeight - 1, plan.width, 1);
  }
  pen.fillStyle = colors.text;
  for (const row of borders) pen.fillRect(left - 6, row * plan.rowHeight - 1, 6, 1);
}

function drawLabels(pen: Pen, drawing: HeatDrawing): void {
  const { plan, left, colors } = drawing;
  pen.fillStyle = colors.text;
  pen.font = drawing.font;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  for (const { text, middle } of drawing.rowLabels)
    pen.fillText(fitLabel(pen, text, left - 10), left - 8, middle);
  pen.textAlign = "center";
  for (const { text, middle } of drawing.columnLabels) {
    pen.fillRect(Math.round(left + middle), plan.height, 1, 4);
    pen.fillText(text, left + middle, plan.height + 12);
  }
}

/** A triangle below the column of each outlier, where a tick would be. */
function drawOutliers(pen: Pen, { plan, left, isOutlier }: HeatDrawing): void {
  isOutlier.forEach((isMarked, column) => {
    if (!isMarked) return;
    const middle = left + (column + 0.5) * plan.columnWidth;
    pen.beginPath();
    pen.moveTo(middle, plan.height + 1);
    pen.lineTo(middle - OUTLIER, plan.height + 1 + OUTLIER);
    pen.lineTo(middle + OUTLIER, plan.height + 1 + OUTLIER);
    pen.fill();
  });
}

/** `text` truncated in the middle to `room` CSS pixels. */
export function fitLabel(pen: Pen, text: string, room: number): string {
  if (pen.measureText(text).width <= room) return text;
  for (let kept = Math.min(text.length - 1, 80); kept > 1; kept--) {
    const short = `${text.slice(0, Math.ceil(kept / 2))}…${text.slice(-Math.floor(kept / 2))}`;
    if (pen.measureText(short).width <= room) return short;
  }
  return "…";
}
