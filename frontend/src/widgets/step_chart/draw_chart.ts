/** Draws the columns and lines of a step chart. */

import { resolveColor } from "../../base/theme";
import { type Box, hatch, type Pen } from "../chart/pen";
import { paperColors } from "../chart/theme_colors";
import type { Drawing, StepAxis, StepColumn, StepSeries } from "./steps";

/** Resolved colors. */
export type ChartColors = Readonly<ReturnType<typeof chartColors>>;

export interface StepsPicture {
  readonly steps: StepAxis;
  readonly series: readonly StepSeries[];
  readonly columns: readonly StepColumn[];
  readonly totals: Float64Array;
  readonly from: number;
  readonly to: number;
  readonly average: number | null;
  readonly selected: number | null;
  readonly colors: ChartColors;
  /** The plotting area in pixels of the canvas. */
  readonly bbox: Box;
  /** Pixels of the canvas per CSS pixel. */
  readonly ratio: number;
  /** The value at the upper edge. */
  readonly top: number;
}

/** The colors of the current theme, and the font of `host`. */
export function chartColors(series: readonly StepSeries[], host: HTMLElement) {
  return {
    /** One per series. */
    fills: series.map(({ color }) => resolveColor(color)),
    ...paperColors(),
    font: `11px ${getComputedStyle(host).fontFamily}`,
  };
}

/** Narrower columns have no gaps, and no edges, which set pale fills apart. */
const GAP_FROM = 4;
const EDGE_FROM = 8;
const EDGE_ALPHA = 0.35;
const HATCH = 6;
const WIDEST = 120;
const OUTLIER = 6;

export function drawSteps(pen: Pen, drawing: Drawing, picture: StepsPicture): void {
  if (drawing === "stack") drawColumns(pen, picture);
  else drawLines(pen, picture);
}

function drawColumns(pen: Pen, picture: StepsPicture): void {
  const { steps, series, columns, totals, colors, bbox, top, ratio } = picture;
  const y = (value: number) => Math.round(bbox.top + bbox.height * (1 - value / top));
  const boxes = columns.map((column) => columnBox(picture, column));
  const base = new Float64Array(columns.length);
  begin(pen, picture);
  series.forEach(({ values }, at) => {
    pen.fillStyle = colors.fills[at];
    pen.strokeStyle = "#000";
    pen.lineWidth = ratio;
    columns.forEach(({ step }, index) => {
      const value = values[step] || 0;
      if (value <= 0) return;
      const [left, right] = boxes[index];
      const low = y(base[index]);
      base[index] += value;
      const high = y(base[index]);
      if (low === high) return;
      pen.fillRect(left, high, right - left, low - high);
      if (right - left >= EDGE_FROM * ratio && low - high > 2 * ratio) {
        const half = ratio / 2;
        pen.globalAlpha = EDGE_ALPHA;
        pen.strokeRect(left + half, high + half, right - left - ratio, low - high - ratio);
        pen.globalAlpha = 1;
      }
    });
  });
  columns.forEach(({ step }, index) => {
    const [left, right] = boxes[index];
    const high = y(totals[step]);
    if (steps.isTruncated[step] && high < bbox.top + bbox.height) {
      const box = { left, top: high, width: right - left, height: bbox.top + bbox.height - high };
      hatch(pen, colors.background, box, HATCH * ratio);
    }
    if (steps.isUnrecorded?.[step]) {
      const box = { ...bbox, left, width: right - left };
      hatch(pen, colors.border, box, HATCH * ratio);
    }
  });
  drawOutliers(pen, picture, boxes, y);
  drawAverage(pen, picture);
  drawSelected(pen, picture);
  pen.restore();
}

function drawLines(pen: Pen, picture: StepsPicture): void {
  const { series, columns, colors, bbox, top, ratio } = picture;
  const x = columns.map((column) => {
    const [left, right] = columnBox(picture, column);
    return (left + right) / 2;
  });
  const y = (value: number) => bbox.top + bbox.height * (1 - value / top);
  begin(pen, picture);
  series.forEach(({ values, low, high }, at) => {
    pen.fillStyle = colors.fills[at];
    pen.strokeStyle = colors.fills[at];
    pen.lineWidth = 1.5 * ratio;
    if (low && high) {
      pen.globalAlpha = 0.25;
      pen.beginPath();
      columns.forEach(({ step }, index) => {
        pen.lineTo(x[index], y(high[step] || 0));
      });
      for (let index = columns.length - 1; index >= 0; index--) {
        pen.lineTo(x[index], y(low[columns[index].step] || 0));
      }
      pen.fill();
      pen.globalAlpha = 1;
    }
    pen.beginPath();
    let isDown = false;
    columns.forEach(({ step }, index) => {
      const isMeasured = !Number.isNaN(values[step]);
      if (isMeasured && isDown) pen.lineTo(x[index], y(values[step]));
      else if (isMeasured) pen.moveTo(x[index], y(values[step]));
      isDown = isMeasured;
    });
    pen.stroke();
    if (columns.length > 60) return;
    columns.forEach(({ step }, index) => {
      if (Number.isNaN(values[step])) return;
      pen.beginPath();
      pen.arc(x[index], y(values[step]), 2.5 * ratio, 0, 2 * Math.PI);
      pen.fill();
    });
  });
  drawAverage(pen, picture);
  pen.restore();
}

/** Marks outliers by a triangle on the column, or below the upper edge if there is no room. */
function drawOutliers(
  pen: Pen,
  { steps, columns, totals, colors, bbox, ratio }: StepsPicture,
  boxes: readonly (readonly [left: number, right: number])[],
  y: (value: number) => number,
): void {
  const size = OUTLIER * ratio;
  columns.forEach(({ step }, index) => {
    if (!steps.outliers?.[step]) return;
    const x = (boxes[index][0] + boxes[index][1]) / 2;
    const tip = Math.max(y(totals[step]) - ratio, bbox.top + size + ratio);
    pen.beginPath();
    pen.moveTo(x, tip);
    pen.lineTo(x - size, tip - size);
    pen.lineTo(x + size, tip - size);
    pen.closePath();
    pen.fillStyle = colors.text;
    pen.strokeStyle = colors.background;
    pen.lineWidth = ratio;
    pen.fill();
    pen.stroke();
  });
}

function begin(pen: Pen, { bbox }: StepsPicture): void {
  pen.save();
  pen.beginPath();
  pen.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  pen.clip();
}

/** Left and right edge on whole pixels, at least one apart. */
function columnBox(
  { from, to, bbox, ratio }: StepsPicture,
  column: StepColumn,
): [left: number, right: number] {
  const scale = bbox.width / (to - from);
  const left = bbox.left + (column.from - from) * scale;
  const right = bbox.left + (column.to - from) * scale;
  const gap = columnGap((right - left) / ratio) * ratio;
  const start = Math.round(left + gap / 2);
  return [start, Math.max(Math.round(right - gap / 2), start + 1)];
}

/** The gap between columns of `width` pixels: few steps look like columns, many like an area. */
function columnGap(width: number): number {
  if (width < GAP_FROM) return 0;
  return width < 16 ? 1 : Math.max(Math.min(width * 0.2, 24), width - WIDEST);
}

function drawAverage(pen: Pen, { average, bbox, top, colors, ratio }: StepsPicture): void {
  if (average === null) return;
  const y = Math.round(bbox.top + bbox.height * (1 - average / top)) + ratio / 2;
  pen.strokeStyle = colors.text;
  pen.lineWidth = ratio;
  pen.setLineDash([4 * ratio, 4 * ratio]);
  pen.beginPath();
  pen.moveTo(bbox.left, y);
  pen.lineTo(bbox.left + bbox.width, y);
  pen.stroke();
  pen.setLineDash([]);
}

function drawSelected(pen: Pen, picture: StepsPicture): void {
  const { selected, columns, bbox, totals, top, colors, ratio } = picture;
  const column = columns.find(
    ({ from, to }) => selected !== null && selected >= from && selected < to,
  );
  if (!column || selected === null) return;
  const [left, right] = columnBox(picture, column);
  const high = bbox.top + bbox.height * (1 - totals[selected] / top);
  pen.strokeStyle = colors.text;
  pen.lineWidth = 2 * ratio;
  pen.strokeRect(left, high, right - left, bbox.top + bbox.height - high + 2 * ratio);
}
