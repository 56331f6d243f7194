/** Figures of series: the busy share of a view, and the value of a counter at an instant. */
import type { Source } from "../model/sources";
import type { CounterValue, Span } from "../model/types";
import type { CounterPoints } from "../protocol/payload";
import { type PiecePart, WINDOW_BUCKETS } from "./window_store";

/**
 * The mean busy share, 0–1, over the loaded part of the view, averaged over sections. NaN if the view
 * is outside the trace, null if nothing is loaded yet.
 */
export function shareInView(
  view: Span,
  { host, index }: Source,
  sections: readonly (readonly PiecePart<Float32Array>[])[],
): number | null {
  const from = Math.max(view.from - host.offsetPs, index.beginPs);
  const to = Math.min(view.to - host.offsetPs, index.endPs);
  if (to <= from) return Number.NaN;
  let busy = 0;
  let known = 0;
  for (const { data, level, from: window, lowPs, highPs } of sections.flat()) {
    const size = 2 ** level;
    const start = index.beginPs + window * WINDOW_BUCKETS * size;
    const [low, high] = [Math.max(from, lowPs), Math.min(to, highPs)];
    if (!data || high <= low) continue;
    known += high - low;
    const last = Math.min(Math.ceil((high - start) / size), data.length);
    for (let bucket = Math.max(Math.floor((low - start) / size), 0); bucket < last; bucket++) {
      const begin = start + bucket * size;
      // The last bucket may extend beyond the end of the trace; its busy time is before the end.
      const end = begin + size > index.endPs ? begin + size : Math.min(begin + size, high);
      busy += data[bucket] * (end - Math.max(begin, low));
    }
  }
  return known > 0 ? Math.min(busy / known, 1) : null;
}

/** The value of a counter at `ps` of the host; null if unknown, or before its first value. */
export function valueAt(
  parts: readonly PiecePart<CounterPoints>[],
  { index }: Source,
  ps: number,
): CounterValue | null {
  if (ps < index.beginPs || ps > index.endPs) return null;
  const part = parts.find(({ lowPs, highPs }) => lowPs <= ps && ps < highPs);
  if (!part?.data) return null;
  const { timePs, min, max, last } = part.data;
  let at = timePs.length - 1;
  while (at >= 0 && timePs[at] > ps) at--;
  if (at < 0) return null;
  const isHeld = ps >= timePs[at] + 2 ** part.level;
  const value = last[at];
  return isHeld
    ? { last: value, min: value, max: value }
    : { last: value, min: min[at], max: max[at] };
}
