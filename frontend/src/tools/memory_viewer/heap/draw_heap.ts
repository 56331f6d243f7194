/** Draws the memory in use over the heap's events, and below it the address range of each array. */
import { formatTick, type Scale } from "../../../base/format";
import { resolveColor } from "../../../base/theme";
import type { Pen } from "../../../widgets/chart/pen";
import { marksOf } from "../../../widgets/chart/ticks";
import type { Heap } from "../payload";
import { fixedParts, type HeapPlan, xOfEvent, yOfPlace, yOfUse } from "./heap_plan";
import { PURPOSES, TEMPORARY } from "./purposes";

interface HeapPicture {
  readonly heap: Heap;
  readonly plan: HeapPlan;
  readonly scale: Scale;
}

const X_MARK = 90;
const Y_MARK = 42;
/** Smaller bars have no edge, and no name. */
const LEAST_EDGE = 4;
const LEAST_NAME = 12;

export function drawHeap(pen: Pen, picture: HeapPicture): void {
  pen.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  drawAxes(pen, picture);
  drawUse(pen, picture);
  drawBars(pen, picture);
}

function drawAxes(pen: Pen, { plan, scale }: HeapPicture): void {
  const { left, right, top, middle, barsTop, bottom } = plan;
  pen.strokeStyle = resolveColor("var(--border)");
  pen.fillStyle = resolveColor("var(--muted)");
  pen.lineWidth = 1;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  const mark = (y: number, label: string) => {
    line(pen, left, Math.round(y) + 0.5, right, Math.round(y) + 0.5);
    pen.fillText(label, left - 6, y);
  };
  const use = marksOf(0, plan.mostInUse, scale.factor, (middle - top) / Y_MARK);
  for (const value of use.values)
    mark(yOfUse(plan, value), formatTick(value, scale, use.increment));
  const places = marksOf(0, plan.mostBytes, scale.factor, (bottom - barsTop) / Y_MARK);
  for (const value of places.values)
    mark(yOfPlace(plan, value), formatTick(value, scale, places.increment));
  pen.textBaseline = "top";
  pen.textAlign = "center";
  const along = marksOf(plan.from, plan.to, 1, (right - left) / X_MARK);
  for (const event of along.values) {
    if (!Number.isInteger(event)) continue;
    const x = Math.round(xOfEvent(plan, event)) + 0.5;
    line(pen, x, bottom, x, bottom + 4);
    pen.fillText(event.toLocaleString("en-US"), x, bottom + 7);
  }
}

function drawUse(pen: Pen, { heap, plan }: HeapPicture): void {
  const { timeline, figures } = heap;
  const { left, right, middle } = plan;
  const points = timeline.length;
  const x = (point: number) => (point < points ? xOfEvent(plan, timeline.event[point]) : right);
  const trace = (yAt: (point: number) => number) => {
    for (let point = 0; point < points; point++) {
      pen.lineTo(x(point), yAt(point));
      pen.lineTo(x(point + 1), yAt(point));
    }
  };
  pen.fillStyle = resolveColor(TEMPORARY.color);
  pen.beginPath();
  pen.moveTo(left, middle);
  trace((point) => yOfUse(plan, timeline.inUse[point]));
  pen.lineTo(right, middle);
  pen.closePath();
  pen.fill();
  let fixed = 0;
  for (const { color, size } of fixedParts(figures)) {
    const bottom = yOfUse(plan, fixed);
    fixed += size;
    pen.fillStyle = resolveColor(color);
    pen.fillRect(left, yOfUse(plan, fixed), right - left, bottom - yOfUse(plan, fixed));
  }
  const floor = yOfUse(plan, fixed);
  const ink = resolveColor("var(--text)");
  pen.strokeStyle = ink;
  pen.lineWidth = 1;
  pen.globalAlpha = 0.5;
  line(pen, left, floor, right, floor);
  pen.globalAlpha = 1;
  if (!timeline.hasPadding) return;
  pen.setLineDash([4, 3]);
  pen.beginPath();
  pen.moveTo(left, points > 0 ? yOfUse(plan, timeline.unpadded[0]) : floor);
  trace((point) => yOfUse(plan, timeline.unpadded[point]));
  pen.stroke();
  pen.setLineDash([]);
}

function drawBars(pen: Pen, { heap, plan }: HeapPicture): void {
  const { bars } = heap;
  const colors = new Map<string, string>(
    PURPOSES.map(({ id, color }) => [id, resolveColor(color)]),
  );
  const [edge, ink] = [resolveColor("var(--background)"), resolveColor("var(--ink)")];
  pen.save();
  pen.beginPath();
  pen.rect(plan.left, plan.barsTop, plan.right - plan.left, plan.bottom - plan.barsTop);
  pen.clip();
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  for (let bar = 0; bar < bars.length; bar++) {
    const isAlways = bars.start[bar] < 0;
    const left = isAlways ? plan.left : Math.max(xOfEvent(plan, bars.start[bar]), plan.left);
    const right = isAlways ? plan.right : Math.min(xOfEvent(plan, bars.end[bar]), plan.right);
    const top = yOfPlace(plan, bars.offset[bar]);
    const [wide, high] = [
      Math.max(right - left, 1),
      Math.max(yOfPlace(plan, bars.offset[bar] + bars.size[bar]) - top, 0.5),
    ];
    pen.fillStyle = colors.get(bars.purpose[bar]) ?? resolveColor("var(--c-idle)");
    pen.fillRect(left, top, wide, high);
    if (high < LEAST_EDGE || wide < LEAST_EDGE) continue;
    pen.strokeStyle = edge;
    pen.lineWidth = 1;
    pen.strokeRect(left + 0.5, top + 0.5, wide - 1, high - 1);
    const name = bars.name[bar].slice(0, 80);
    if (high < LEAST_NAME || pen.measureText(name).width > wide - 8) continue;
    pen.fillStyle = bars.purpose[bar] === "Parameter" ? resolveColor("var(--ink-on-deep)") : ink;
    pen.fillText(name, left + 4, top + high / 2);
  }
  pen.restore();
}

function line(pen: Pen, x1: number, y1: number, x2: number, y2: number): void {
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}
