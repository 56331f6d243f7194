/** Draws counters and busy shares over time as columns of rectangles. */

import type { EventColors, Pixel } from "../../../widgets/canvas/event_colors";
import { type PiecePart, WINDOW_BUCKETS } from "../data/window_store";
import type { Source } from "../model/sources";
import type { CounterScale, Span } from "../model/types";
import type { CounterPoints } from "../protocol/payload";
import type { Scene } from "./scene";

export interface SeriesPlace {
  readonly source: Source;
  /** Device pixels. */
  readonly y: number;
  readonly height: number;
  /** The bottom of the pinned lanes. */
  readonly clip: number;
  readonly lane: number;
}

/**
 * A counter keeps its value until the next one. It is filled from zero to the last value of each
 * bucket, with the range of values within the bucket paler on top.
 */
export function drawCounter(
  scene: Scene,
  view: Span,
  place: SeriesPlace,
  pieces: readonly PiecePart<CounterPoints>[],
  scale: CounterScale,
  colors: EventColors,
): void {
  const first = scene.count;
  const { from, perPs } = axis(scene, view, place.source);
  const low = Math.min(scale.least, 0);
  const span = Math.max(scale.most, 0) - low || 1;
  const toY = (value: number) => place.y + Math.round((1 - (value - low) / span) * place.height);
  const zero = toY(0);
  for (const { data: points, level, to, lowPs, highPs } of pieces) {
    if (!points) continue;
    const least = Math.max(Math.round((lowPs - from) * perPs), 0);
    const known = Math.min(highPs, place.source.index.endPs);
    const most = Math.min(Math.round((known - from) * perPs), scene.width);
    const { timePs, min, max, last } = points;
    const end = place.source.index.beginPs + to * WINDOW_BUCKETS * 2 ** level;
    const bucket = Math.max(Math.round(2 ** level * perPs), 1);
    for (let index = firstShown(timePs, Math.max(from, lowPs)); index < timePs.length; index++) {
      const x = Math.max(Math.round((timePs[index] - from) * perPs), least);
      if (x >= most) break;
      const next = index + 1 < timePs.length ? timePs[index + 1] : end;
      const right = Math.min(Math.round((next - from) * perPs), most);
      if (right <= x) continue;
      const top = toY(last[index]);
      column(scene, place, x, right, Math.min(top, zero), Math.max(top, zero), colors.counter);
      const highest = toY(max[index]);
      const lowest = toY(min[index]);
      const spread = Math.min(x + bucket, right);
      if (lowest - highest > 1)
        column(scene, place, x, spread, highest, lowest, colors.counterSpread);
      column(scene, place, x, right, top, top + 1, colors.counterEdge);
    }
  }
  scene.endStrip(first, place.lane, 0, false);
}

/** Draws busy shares as columns from the bottom. Several sections are averaged. */
export function drawBusy(
  scene: Scene,
  view: Span,
  place: SeriesPlace,
  shares: readonly (readonly PiecePart<Float32Array>[])[],
  color: Pixel,
): void {
  const first = scene.count;
  const { from, perPs } = axis(scene, view, place.source);
  const { beginPs, endPs } = place.source.index;
  const [leading] = shares;
  leading?.forEach((part, index) => {
    const { level, from: window, lowPs, highPs } = part;
    const columns = shares
      .map((parts) => parts[index])
      .filter((other) => other?.level === level && other.from === window)
      .flatMap(({ data }) => (data ? [data] : []));
    if (columns.length === 0) return;
    const start = beginPs + window * WINDOW_BUCKETS * 2 ** level;
    const size = 2 ** level;
    const least = Math.max(Math.round((lowPs - from) * perPs), 0);
    const most = Math.min(Math.round((Math.min(highPs, endPs) - from) * perPs), scene.width);
    const begin = Math.max(Math.floor((Math.max(from, lowPs) - start) / size), 0);
    for (let bucket = begin; bucket < columns[0].length; bucket++) {
      const x = Math.max(Math.round((start + bucket * size - from) * perPs), least);
      if (x >= most) break;
      const right = Math.min(Math.round((start + (bucket + 1) * size - from) * perPs), most);
      if (right <= x) continue;
      let sum = 0;
      for (const column of columns) sum += column[bucket] ?? 0;
      const height = (sum / columns.length) * place.height;
      if (height <= 0) continue;
      const bottom = place.y + place.height;
      // Any work at all stays visible.
      column(scene, place, x, right, bottom - Math.max(Math.round(height), 1), bottom, color);
    }
  });
  scene.endStrip(first, place.lane, 0, false);
}

function axis(scene: Scene, view: Span, source: Source) {
  return { from: view.from - source.host.offsetPs, perPs: scene.width / (view.to - view.from) };
}

function column(
  scene: Scene,
  { clip }: SeriesPlace,
  x: number,
  right: number,
  top: number,
  bottom: number,
  color: Pixel,
): void {
  const y = Math.max(top, clip);
  if (right > x && bottom > y) scene.plain(x, y, right - x, bottom - y, color);
}

/** The index of the last point at or before `from`. */
function firstShown(times: Float64Array, from: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= from) low = middle + 1;
    else high = middle;
  }
  return Math.max(low - 1, 0);
}
