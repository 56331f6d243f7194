/** Columns and lines of a step chart, put on a canvas. */
import type { StepAxis, StepColumn, StepSeries } from "./steps";

/** Resolved colours. */
export interface ChartColors {
  /** One per series. */
  readonly fills: readonly string[];
  readonly background: string;
  readonly text: string;
  readonly muted: string;
  readonly border: string;
  readonly font: string;
}

interface Picture {
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
  readonly bbox: { left: number; top: number; width: number; height: number };
  /** What the upper edge stands for. */
  readonly top: number;
}

type Context = CanvasRenderingContext2D;

/** Narrower columns have no gaps, and none of the edges that set pale fills apart. */
const GAP_FROM = 4;
const EDGE_FROM = 8;
const HATCH = 6;
const WIDEST = 120;
const OUTLIER = 6;

export function drawColumns(ctx: Context, picture: Picture): void {
  const { steps, series, columns, totals, colors, bbox, top } = picture;
  const ratio = devicePixelRatio || 1;
  const y = (value: number) => Math.round(bbox.top + bbox.height * (1 - value / top));
  const boxes = columns.map((column) => columnBox(picture, column, ratio));
  const base = new Float64Array(columns.length);
  begin(ctx, picture);
  series.forEach(({ values }, at) => {
    ctx.fillStyle = colors.fills[at];
    ctx.strokeStyle = "rgb(0 0 0 / 35%)";
    ctx.lineWidth = ratio;
    columns.forEach(({ step }, index) => {
      const value = values[step] || 0;
      if (value <= 0) return;
      const [left, right] = boxes[index];
      const low = y(base[index]);
      base[index] += value;
      const high = y(base[index]);
      if (low === high) return;
      ctx.fillRect(left, high, right - left, low - high);
      if (right - left >= EDGE_FROM * ratio && low - high > 2 * ratio) {
        const half = ratio / 2;
        ctx.strokeRect(left + half, high + half, right - left - ratio, low - high - ratio);
      }
    });
  });
  const hatch = hatching(ctx, colors.background, ratio);
  const lost = hatching(ctx, colors.border, ratio);
  columns.forEach(({ step }, index) => {
    const [left, right] = boxes[index];
    const high = y(totals[step]);
    if (steps.isTruncated[step]) {
      ctx.fillStyle = hatch;
      ctx.fillRect(left, high, right - left, bbox.top + bbox.height - high);
    }
    if (steps.isUnrecorded?.[step]) {
      ctx.fillStyle = lost;
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
    }
  });
  drawOutliers(ctx, picture, boxes, y, ratio);
  drawAverage(ctx, picture, ratio);
  drawSelected(ctx, picture, ratio);
  ctx.restore();
}

export function drawLines(ctx: Context, picture: Picture): void {
  const { series, columns, colors, bbox, top } = picture;
  const ratio = devicePixelRatio || 1;
  const x = columns.map((column) => {
    const [left, right] = columnBox(picture, column, ratio);
    return (left + right) / 2;
  });
  const y = (value: number) => bbox.top + bbox.height * (1 - value / top);
  begin(ctx, picture);
  series.forEach(({ values, low, high }, at) => {
    ctx.fillStyle = colors.fills[at];
    ctx.strokeStyle = colors.fills[at];
    ctx.lineWidth = 1.5 * ratio;
    if (low && high) {
      ctx.globalAlpha = 0.25;
      ctx.beginPath();
      columns.forEach(({ step }, index) => {
        ctx.lineTo(x[index], y(high[step] || 0));
      });
      for (let index = columns.length - 1; index >= 0; index--) {
        ctx.lineTo(x[index], y(low[columns[index].step] || 0));
      }
      ctx.fill();
      ctx.globalAlpha = 1;
    }
    ctx.beginPath();
    let isDown = false;
    columns.forEach(({ step }, index) => {
      const isMeasured = !Number.isNaN(values[step]);
      if (isMeasured && isDown) ctx.lineTo(x[index], y(values[step]));
      else if (isMeasured) ctx.moveTo(x[index], y(values[step]));
      isDown = isMeasured;
    });
    ctx.stroke();
    if (columns.length > 60) return;
    columns.forEach(({ step }, index) => {
      if (Number.isNaN(values[step])) return;
      ctx.beginPath();
      ctx.arc(x[index], y(values[step]), 2.5 * ratio, 0, 2 * Math.PI);
      ctx.fill();
    });
  });
  drawAverage(ctx, picture, ratio);
  ctx.restore();
}

/** A triangle on the column of an outlier, or under the upper edge where there is no room. */
function drawOutliers(
  ctx: Context,
  { steps, columns, totals, colors, bbox }: Picture,
  boxes: readonly (readonly [left: number, right: number])[],
  y: (value: number) => number,
  ratio: number,
): void {
  const size = OUTLIER * ratio;
  columns.forEach(({ step }, index) => {
    if (!steps.outliers?.[step]) return;
    const x = (boxes[index][0] + boxes[index][1]) / 2;
    const tip = Math.max(y(totals[step]) - ratio, bbox.top + size + ratio);
    ctx.beginPath();
    ctx.moveTo(x, tip);
    ctx.lineTo(x - size, tip - size);
    ctx.lineTo(x + size, tip - size);
    ctx.closePath();
    ctx.fillStyle = colors.text;
    ctx.strokeStyle = colors.background;
    ctx.lineWidth = ratio;
    ctx.fill();
    ctx.stroke();
  });
}

function begin(ctx: Context, { bbox }: Picture): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
}

/** Left and right edge on whole pixels, at least one apart. */
function columnBox(
  { from, to, bbox }: Picture,
  column: StepColumn,
  ratio: number,
): [left: number, right: number] {
  const scale = bbox.width / (to - from);
  const left = bbox.left + (column.from - from) * scale;
  const right = bbox.left + (column.to - from) * scale;
  const gap = columnGap((right - left) / ratio) * ratio;
  const start = Math.round(left + gap / 2);
  return [start, Math.max(Math.round(right - gap / 2), start + 1)];
}

/** Between columns that have `width` pixels each: few steps stay columns, many become an area. */
function columnGap(width: number): number {
  if (width < GAP_FROM) return 0;
  return width < 16 ? 1 : Math.max(Math.min(width * 0.2, 24), width - WIDEST);
}

/** Stripes of the background: what lies under them was not recorded whole. */
function hatching(ctx: Context, color: string, ratio: number): CanvasPattern | string {
  const size = HATCH * ratio;
  const tile = document.createElement("canvas");
  tile.width = size;
  tile.height = size;
  const pen = tile.getContext("2d");
  if (!pen) return "transparent";
  pen.strokeStyle = color;
  pen.globalAlpha = 0.75;
  pen.lineWidth = size * 0.4;
  for (const shift of [-size, 0, size]) {
    pen.beginPath();
    pen.moveTo(shift - 1, size + 1);
    pen.lineTo(shift + size + 1, -1);
    pen.stroke();
  }
  return ctx.createPattern(tile, "repeat") ?? "transparent";
}

function drawAverage(ctx: Context, { average, bbox, top, colors }: Picture, ratio: number): void {
  if (average === null) return;
  const y = Math.round(bbox.top + bbox.height * (1 - average / top)) + ratio / 2;
  ctx.strokeStyle = colors.text;
  ctx.lineWidth = ratio;
  ctx.setLineDash([4 * ratio, 4 * ratio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.setLineDash([]);
}

function drawSelected(ctx: Context, picture: Picture, ratio: number): void {
  const { selected, columns, bbox, totals, top, colors } = picture;
  const column = columns.find(
    ({ from, to }) => selected !== null && selected >= from && selected < to,
  );
  if (!column || selected === null) return;
  const [left, right] = columnBox(picture, column, ratio);
  const high = bbox.top + bbox.height * (1 - totals[selected] / top);
  ctx.strokeStyle = colors.text;
  ctx.lineWidth = 2 * ratio;
  ctx.strokeRect(left, high, right - left, bbox.top + bbox.height - high + 2 * ratio);
}
