/** Draws the timeline: stacked areas as step functions, and the fragmentation line. */
import { formatTick, type Scale } from "../../../base/format";
import { resolveColor } from "../../../base/theme";
import type { Pen } from "../../../widgets/chart/pen";
import { paperColors } from "../../../widgets/chart/theme_colors";
import { marksOf } from "../../../widgets/chart/ticks";
import { formatGibibytes, traceTimeScale } from "../format";
import type { Memory, Timeline } from "../payload";
import { CAPACITY, FRAGMENTATION, MEMORY_PARTS, type Plan, xOf } from "./plan";

type TimelineColors = Readonly<ReturnType<typeof timelineColors>>;

export interface TimelinePicture {
  readonly memory: Memory;
  readonly plan: Plan;
  readonly scale: Scale;
  readonly hidden: ReadonlySet<string>;
  readonly colors: TimelineColors;
}

/** The colors of the current theme. */
export function timelineColors() {
  const fills = [...MEMORY_PARTS, FRAGMENTATION].map(({ id, color }) => [id, resolveColor(color)]);
  return {
    /** By part. */
    fills: Object.fromEntries(fills),
    ...paperColors(),
    band: resolveColor("color-mix(in srgb, var(--text) 8%, transparent)"),
    halo: resolveColor("color-mix(in srgb, var(--background) 80%, transparent)"),
    font: `11px ${getComputedStyle(document.body).fontFamily}`,
  };
}

/** The height of the strip above the plotting area that names the steps. */
export const STRIP = 16;
const X_MARK = 90;
const Y_MARK = 42;
const LEAST_STEP = 3;
const LEAST_BETWEEN_LINES = 16;
/** A line that traverses the whole height more often than this is dense. */
const DENSE = 20;

export function drawTimeline(pen: Pen, picture: TimelinePicture): void {
  pen.font = picture.colors.font;
  drawGrid(pen, picture);
  pen.save();
  const { left, top, right, bottom } = picture.plan;
  pen.beginPath();
  pen.rect(left, top, right - left, bottom - top);
  pen.clip();
  drawBefore(pen, picture);
  drawAreas(pen, picture);
  drawStepLines(pen, picture);
  drawFragmentation(pen, picture);
  drawCapacity(pen, picture);
  pen.restore();
  drawStrip(pen, picture);
}

function drawGrid(pen: Pen, { plan, scale, colors, hidden }: TimelinePicture): void {
  const { left, right, top, bottom } = plan;
  pen.strokeStyle = colors.border;
  pen.fillStyle = colors.muted;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  const up = marksOf(0, plan.most, scale.factor, (bottom - top) / Y_MARK);
  for (const value of up.values) {
    const y = Math.round(yOf(plan, value)) + 0.5;
    line(pen, left, y, right, y);
    pen.fillText(formatTick(value, scale, up.increment), left - 6, y);
  }
  if (!hidden.has("fragmentation")) {
    pen.textAlign = "left";
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      const y = Math.round(bottom - share * (bottom - top)) + 0.5;
      line(pen, right, y, right + 4, y);
      pen.fillText(`${share * 100}`, right + 8, y);
    }
  }
  pen.textBaseline = "top";
  pen.textAlign = "center";
  const times = traceTimeScale(plan.to);
  const along = marksOf(plan.from, plan.to, times.factor, (right - left) / X_MARK);
  for (const value of along.values) {
    const x = Math.round(xOf(plan, value)) + 0.5;
    line(pen, x, bottom, x, bottom + 4);
    const text = formatTick(value, times, along.increment);
    // The outermost labels stay inside the picture.
    const half = pen.measureText(text).width / 2;
    pen.fillText(text, Math.max(half, x), bottom + 7);
  }
}

/** Before the first event, usage is unknown rather than zero. */
function drawBefore(pen: Pen, { memory, plan, colors }: TimelinePicture): void {
  const first = memory.timeline.time[0] ?? plan.to;
  const right = Math.min(xOf(plan, first), plan.right);
  const text = "unknown before the first event";
  if (right - plan.left < pen.measureText(text).width + 24) return;
  pen.fillStyle = colors.muted;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(text, (plan.left + right) / 2, (plan.top + plan.bottom) / 2);
}

function drawAreas(pen: Pen, { memory, plan, hidden, colors }: TimelinePicture): void {
  const { timeline } = memory;
  const { length } = timeline;
  if (length === 0) return;
  const shown = MEMORY_PARTS.filter(({ id }) => !hidden.has(id));
  const tops: Float64Array[] = [];
  for (const { id } of shown) {
    const below = tops.at(-1);
    tops.push(timeline[id].map((value, point) => (value || 0) + (below?.[point] ?? 0)));
  }
  // Each area extends down to the axis, the highest first, so that there are no gaps between them.
  for (let index = shown.length - 1; index >= 0; index--) {
    pen.fillStyle = colors.fills[shown[index].id];
    pen.beginPath();
    traceArea(pen, timeline, plan, tops[index]);
    pen.fill();
  }
  // An edge, so that color is not the only distinction.
  pen.strokeStyle = "#000";
  pen.globalAlpha = 0.4;
  pen.lineWidth = 1;
  shown.forEach(({ id }, index) => {
    const y = (point: number) => yOf(plan, tops[index][point]);
    if (!timeline[id].some((value) => value > 0) || isDense(timeline, plan, y)) return;
    pen.beginPath();
    traceSteps(pen, timeline, plan, y);
    pen.stroke();
  });
  pen.globalAlpha = 1;
}

/** Whether a line goes up and down so often that it would cover everything. */
function isDense({ time, length }: Timeline, plan: Plan, yAt: (point: number) => number): boolean {
  let way = 0;
  for (let point = 1; point < length; point++)
    if (time[point] >= plan.from && time[point] <= plan.to)
      way += Math.abs(yAt(point) - yAt(point - 1)) || 0;
  return way > DENSE * (plan.bottom - plan.top);
}

/** Traces a step function: each value holds until the next point, the last one to the end. */
function traceArea(pen: Pen, { time, length }: Timeline, plan: Plan, tops: Float64Array): void {
  const x = (point: number) => (point < length ? xOf(plan, time[point]) : plan.right);
  pen.moveTo(x(0), plan.bottom);
  for (let point = 0; point < length; point++) {
    const y = yOf(plan, tops[point]);
    pen.lineTo(x(point), y);
    pen.lineTo(x(point + 1), y);
  }
  pen.lineTo(plan.right, plan.bottom);
  pen.closePath();
}

function traceSteps(
  pen: Pen,
  { time, length }: Timeline,
  plan: Plan,
  yAt: (point: number) => number,
): void {
  let isDown = false;
  for (let point = 0; point < length; point++) {
    const y = yAt(point);
    if (Number.isNaN(y)) {
      isDown = false;
      continue;
    }
    const x = xOf(plan, time[point]);
    if (isDown) pen.lineTo(x, y);
    else pen.moveTo(x, y);
    pen.lineTo(point + 1 < length ? xOf(plan, time[point + 1]) : plan.right, y);
    isDown = true;
  }
}

/** Drawn over a wider line in the background color, since it crosses areas of any color. */
function drawFragmentation(pen: Pen, { memory, plan, hidden, colors }: TimelinePicture): void {
  if (hidden.has("fragmentation")) return;
  const { timeline } = memory;
  const y = (point: number) =>
    plan.bottom - timeline.fragmentation[point] * (plan.bottom - plan.top - 2) - 1;
  const strokes = isDense(timeline, plan, y)
    ? ([[colors.text, 0.5]] as const)
    : ([
        [colors.halo, 3.5],
        [colors.text, 1.5],
      ] as const);
  for (const [color, wide] of strokes) {
    pen.strokeStyle = color;
    pen.lineWidth = wide;
    pen.lineJoin = "round";
    pen.beginPath();
    traceSteps(pen, timeline, plan, y);
    pen.stroke();
  }
}

/** A dashed line, labeled below at the right. */
function drawCapacity(pen: Pen, { memory, plan, hidden, colors }: TimelinePicture): void {
  const { capacity } = memory.allocators[memory.chosen];
  if (hidden.has(CAPACITY.id) || !(capacity > 0)) return;
  const y = Math.round(yOf(plan, capacity)) + 0.5;
  pen.lineWidth = 1.5;
  pen.strokeStyle = colors.text;
  pen.setLineDash([6, 4]);
  line(pen, plan.left, y, plan.right, y);
  pen.setLineDash([]);
  const text = `Capacity ${formatGibibytes(capacity)}`;
  const wide = pen.measureText(text).width;
  pen.fillStyle = colors.halo;
  pen.fillRect(plan.right - wide - 10, y + 3, wide + 8, 16);
  pen.fillStyle = colors.text;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  pen.fillText(text, plan.right - 6, y + 11);
}

function drawStepLines(pen: Pen, picture: TimelinePicture): void {
  const steps = visibleSteps(picture);
  const { plan } = picture;
  // Closer lines would hide the areas.
  if ((plan.right - plan.left) / steps.length < LEAST_BETWEEN_LINES) return;
  pen.strokeStyle = picture.colors.text;
  pen.globalAlpha = 0.3;
  pen.lineWidth = 1;
  pen.setLineDash([2, 3]);
  for (const { left, right } of steps) {
    for (const x of [left, right]) {
      const at = Math.round(x) + 0.5;
      line(pen, at, plan.top, at, plan.bottom);
    }
  }
  pen.setLineDash([]);
  pen.globalAlpha = 1;
}

function drawStrip(pen: Pen, picture: TimelinePicture): void {
  const { plan, colors } = picture;
  pen.save();
  pen.beginPath();
  pen.rect(plan.left, plan.top - STRIP, plan.right - plan.left, STRIP);
  pen.clip();
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.strokeStyle = colors.muted;
  for (const { left, right, label } of visibleSteps(picture)) {
    pen.fillStyle = colors.band;
    pen.fillRect(left, plan.top - STRIP, right - left, STRIP - 2);
    pen.strokeRect(Math.round(left) + 0.5, plan.top - STRIP + 0.5, right - left, STRIP - 2);
    const start = Math.max(left, plan.left) + 4;
    if (pen.measureText(label).width < Math.min(right, plan.right) - start - 2) {
      pen.fillStyle = colors.text;
      pen.fillText(label, start, plan.top - STRIP / 2);
    }
  }
  pen.restore();
}

interface VisibleStep {
  readonly left: number;
  readonly right: number;
  readonly label: string;
}

/** The visible steps; none if they would be too narrow to distinguish. */
function visibleSteps({ memory, plan }: Pick<TimelinePicture, "memory" | "plan">): VisibleStep[] {
  const { labels, begin, end } = memory.steps;
  const steps = labels.flatMap((label, step) => {
    const [left, right] = [xOf(plan, begin[step]), xOf(plan, end[step])];
    return right > plan.left && left < plan.right
      ? [{ left, right, label: (/^\d+$/.test(label) ? `Step ${label}` : label).slice(0, 40) }]
      : [];
  });
  const room = (plan.right - plan.left) / Math.max(steps.length, 1);
  return room < LEAST_STEP ? [] : steps;
}

function yOf({ top, bottom, most }: Plan, value: number): number {
  return bottom - (value / most) * (bottom - top);
}

function line(pen: Pen, x1: number, y1: number, x2: number, y2: number): void {
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}
