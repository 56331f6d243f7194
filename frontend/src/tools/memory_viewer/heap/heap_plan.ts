/** The geometry of the charts. */
import type { Heap, HeapBars, HeapTimeline } from "../payload";
import { PURPOSES } from "./purposes";

export type HeapPlan = Readonly<ReturnType<typeof planHeap>>;

interface HeapSides {
  readonly left: number;
  readonly right: number;
  /** The edges of the upper chart: memory in use. */
  readonly top: number;
  readonly middle: number;
  /** The edges of the lower chart: address ranges. */
  readonly barsTop: number;
  readonly bottom: number;
}

export function planHeap({ timeline, figures, bars }: Heap, sides: HeapSides) {
  let most = figures.peak;
  for (const value of timeline.inUse) most = Math.max(most, value);
  return {
    ...sides,
    /** Events; the window ends before `to`. */
    from: timeline.from,
    to: Math.max(timeline.to, timeline.from + 1),
    mostInUse: Math.max(most, 1) * 1.04,
    mostBytes: Math.max(bars.total, 1),
  };
}

/**
 * The parts of the memory that is in use throughout, the bottom of the stack first. Donated
 * parameters, whose memory also holds results, count as parameters.
 */
export function fixedParts(figures: Heap["figures"]): { color: string; size: number }[] {
  const size = (value: number) => Math.max(value || 0, 0);
  const total = size(figures.peak - figures.temporaries);
  const constants = Math.min(size(figures.constants), total);
  const results = Math.min(size(figures.outputs - size(figures.donated)), total - constants);
  return [total - results - constants, results, constants].map((bytes, index) => ({
    color: PURPOSES[index].color,
    size: bytes,
  }));
}

export function xOfEvent({ left, right, from, to }: HeapPlan, event: number): number {
  return left + ((event - from) / (to - from)) * (right - left);
}

export function eventAt({ left, right, from, to }: HeapPlan, x: number): number {
  const event = Math.floor(from + ((x - left) / (right - left)) * (to - from));
  return Math.max(from, Math.min(event, to - 1));
}

/** In the upper chart. */
export function yOfUse({ top, middle, mostInUse }: HeapPlan, bytes: number): number {
  return middle - (bytes / mostInUse) * (middle - top);
}

/** In the lower chart, from its top. */
export function yOfPlace({ barsTop, bottom, mostBytes }: HeapPlan, offset: number): number {
  return barsTop + (offset / mostBytes) * (bottom - barsTop);
}

/** The point in effect at an event; -1 before the first. */
export function pointOf({ event }: HeapTimeline, wanted: number): number {
  let [low, high] = [0, event.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (event[middle] <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The bar at a position of the lower chart, the smallest if there are several; -1 for none. */
export function barAt(bars: HeapBars, plan: HeapPlan, x: number, y: number): number {
  const event = plan.from + ((x - plan.left) / (plan.right - plan.left)) * (plan.to - plan.from);
  const place = ((y - plan.barsTop) / (plan.bottom - plan.barsTop)) * plan.mostBytes;
  // One pixel of tolerance on each side, so that thin bars can be hit.
  const near = plan.mostBytes / (plan.bottom - plan.barsTop);
  let best = -1;
  for (let bar = 0; bar < bars.length; bar++) {
    const isAlways = bars.start[bar] < 0;
    if (!isAlways && (event < bars.start[bar] || event >= bars.end[bar])) continue;
    if (place < bars.offset[bar] - near || place > bars.offset[bar] + bars.size[bar] + near)
      continue;
    if (best < 0 || bars.size[bar] < bars.size[best]) best = bar;
  }
  return best;
}

/** The window scaled by `factor` about `middle`, clamped to all `events`. */
export function zoomedEvents(
  { from, to }: Pick<HeapPlan, "from" | "to">,
  events: number,
  factor: number,
  middle: number,
): readonly [number, number] {
  const length = Math.max(Math.round((to - from) * factor), 1);
  if (length >= events) return [0, events];
  const start = Math.round(middle - (middle - from) * (length / (to - from)));
  const first = Math.max(0, Math.min(start, events - length));
  return [first, first + length];
}
