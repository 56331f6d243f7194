/** The geometry of the timeline: window, scales, and the point at a position. */
import { inUse, type Memory, type Timeline } from "../payload";

/** Parts of the chart that can be hidden, the bottom of the stack first. */
export const MEMORY_PARTS = [
  { id: "stack", label: "Stack", color: "var(--c-input)" },
  { id: "heap", label: "Heap", color: "var(--c-output)" },
  { id: "free", label: "Free", color: "var(--c-compute16)" },
] as const;
export const CAPACITY = { id: "capacity", label: "Capacity", color: "var(--muted)" };
export const FRAGMENTATION = { id: "fragmentation", label: "Fragmentation", color: "var(--text)" };

/** The plotting area in CSS pixels, and the values at its edges. */
export interface Plan {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  /** ps */
  readonly from: number;
  readonly to: number;
  /** Bytes at the upper edge. */
  readonly most: number;
}

export interface Window {
  readonly from: number;
  readonly to: number;
}

/** The window in the address, clamped to the recording; without one, the default window. */
export function windowOf(
  memory: Memory,
  view: Readonly<Record<string, string | undefined>>,
): Window & { readonly isZoomed: boolean } {
  const { begin, end } = memory;
  if (view.from_ps === undefined && view.to_ps === undefined) return defaultWindow(memory);
  const [from, to] = [view.from_ps, view.to_ps].map((text) =>
    /^\d{1,18}$/.test(text ?? "") ? Number(text) : Number.NaN,
  );
  const low = Number.isNaN(from) ? begin : Math.max(from, begin);
  const high = Number.isNaN(to) ? end : Math.min(to, end);
  return high > low && (low > begin || high < end)
    ? { from: low, to: high, isZoomed: true }
    : { from: begin, to: Math.max(end, begin + 1), isZoomed: false };
}

/** Margin before the first event or step and after the last step, as a part of the range. */
const AROUND = 0.05;
/** If steps fill more than this share of the recording, all of it is shown. */
const MOST = 0.9;

/** The part of the address that shows the whole recording. */
export function wholeView(memory: Memory): Readonly<Record<"from_ps" | "to_ps", string | null>> {
  const { begin, end } = memory;
  return defaultWindow(memory).isZoomed
    ? { from_ps: String(begin), to_ps: String(end) }
    : { from_ps: null, to_ps: null };
}

/**
 * The default window: the steps and the peak. Without steps it starts shortly before the first event
 * if that is in the second half of the recording.
 */
export function defaultWindow(memory: Memory): Window & { readonly isZoomed: boolean } {
  const { begin, end, timeline, steps, allocators, chosen } = memory;
  const { peakAt } = allocators[chosen];
  const edges = [...steps.begin, ...steps.end, peakAt].filter((time) => !Number.isNaN(time));
  const first = timeline.time[0] ?? begin;
  const isLate = first - begin > (end - begin) / 2;
  let from = isLate ? first - AROUND * (end - first) : begin;
  let to = end;
  if (steps.labels.length > 0) {
    const [low, high] = [Math.min(...edges), Math.max(...edges)];
    if (high - low < MOST * (end - begin)) {
      from = low - AROUND * (high - low);
      to = high + AROUND * (high - low);
    }
  }
  from = Math.max(Math.floor(from), begin);
  to = Math.max(Math.min(Math.ceil(to), end), from + 1);
  return { from, to, isZoomed: from > begin || to < end };
}

/** The value at the upper edge for the visible parts; the capacity if none is visible. */
export function topOf(
  { timeline, allocators, chosen }: Memory,
  hidden: ReadonlySet<string>,
  { from, to }: Window,
): number {
  const shown = MEMORY_PARTS.filter(({ id }) => !hidden.has(id));
  let most = 0;
  for (let point = 0; point < timeline.length; point++) {
    if (timeline.time[point] > to || (timeline.time[point + 1] ?? to) < from) continue;
    let sum = 0;
    for (const { id } of shown) sum += timeline[id][point] || 0;
    if (sum > most) most = sum;
  }
  const capacity = allocators[chosen]?.capacity;
  if (!hidden.has(CAPACITY.id) && capacity > most) most = capacity;
  return most * 1.04 || capacity || 1;
}

export function xOf({ left, right, from, to }: Plan, time: number): number {
  return left + ((time - from) / (to - from)) * (right - left);
}

export function timeAt({ left, right, from, to }: Plan, x: number): number {
  const share = (x - left) / (right - left);
  return Math.round(from + Math.max(0, Math.min(share, 1)) * (to - from));
}

/** Distance from the pointer, in pixels, within which the point with the largest use is chosen. */
const NEAR = 3;

/**
 * The point at `x`: among nearby points, the one with the most memory in use, so that spikes can be
 * hit; else the last point before. -1 if there is none.
 */
export function pointAt(timeline: Timeline, plan: Plan, x: number): number {
  const perPixel = (plan.to - plan.from) / (plan.right - plan.left);
  const time = timeAt(plan, x);
  const last = lastPointBefore(timeline.time, time + NEAR * perPixel);
  let best = -1;
  for (let point = last; point >= 0; point--) {
    if (timeline.time[point] < Math.max(time - NEAR * perPixel, plan.from)) break;
    if (best < 0 || !(inUse(timeline, point) <= inUse(timeline, best))) best = point;
  }
  return best >= 0 ? best : lastPointBefore(timeline.time, time);
}

/** The index of the last of ascending times that is at most `time`; -1 if there is none. */
export function lastPointBefore(times: Float64Array, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The shortest window in ps; events have a resolution of nanoseconds. */
export const SHORTEST = 10_000;

/** The window scaled by `factor` about `middle`, clamped to the recording; null for all of it. */
export function zoomed(
  { begin, end }: Memory,
  { from, to }: Window,
  factor: number,
  middle: number,
): Window | null {
  const length = Math.max(Math.round((to - from) * factor), SHORTEST);
  if (length >= end - begin) return null;
  const start = Math.round(middle - (middle - from) * (length / (to - from)));
  const low = Math.max(begin, Math.min(start, end - length));
  return { from: low, to: low + length };
}
