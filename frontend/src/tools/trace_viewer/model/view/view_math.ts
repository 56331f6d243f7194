/** Arithmetic on views of the time axis: panning, zooming, limits and levels of detail. */
import { tileSpan } from "../../protocol/tiles";
import type { Span } from "../types";

/** The shortest view in ps. */
const CLOSEST = 100;
/** The margin on either side of the extent, as a share of it. */
const MARGIN = 0.05;
/** The relative precision of float64 times, with room for a hundred steps per pixel. */
const RESOLUTION = 2 ** -36;

/** Moves by a smaller share of the view, a 30th of a pixel, may be rounding errors. */
const UNSEEN = 2e-5;

/** The largest bucket per CSS pixel; the smallest is half of it. */
const LARGEST_BUCKET = 1.4;

/** The level at which a bucket is 0.7 to 1.4 pixels wide; at least 0. */
export function chooseLevel(psPerPixel: number): number {
  return Math.max(Math.floor(Math.log2(psPerPixel * LARGEST_BUCKET)), 0);
}

/** Tiles [from, to) of `level` that `span` touches; `begin` and `end` are those of the part. */
export function tilesOf(
  span: Span,
  level: number,
  begin: number,
  end: number,
): { readonly from: number; readonly to: number } {
  const size = tileSpan(level);
  const last = Math.floor((end - begin) / size);
  const from = Math.max(Math.floor((span.from - begin) / size), 0);
  const to = Math.min(Math.floor((span.to - begin) / size), last) + 1;
  return { from, to: Math.max(to, from) };
}

/** `view` clamped to the extent with a margin, and to the zoom limits. */
export function clampView(view: Span, extent: Span): Span {
  const whole = extent.to - extent.from;
  const margin = whole * MARGIN;
  const [low, high] = [extent.from - margin, extent.to + margin];
  const far = Math.max(Math.abs(low), Math.abs(high));
  const closest = Math.min(Math.max(CLOSEST, far * RESOLUTION), high - low);
  const middle = (view.from + view.to) / 2;
  const width = Math.min(Math.max(view.to - view.from, closest), high - low);
  // A view of the maximum width keeps its edges, so that rounding does not move it.
  let from = width === view.to - view.from ? view.from : middle - width / 2;
  from = Math.min(Math.max(from, low), high - width);
  return { from, to: from + width };
}

/** `view` scaled by `factor` about the instant `at`; `view` itself at a limit. */
export function zoomAt(view: Span, at: number, factor: number, extent: Span): Span {
  const whole = clampView(
    { from: at - (at - view.from) * factor, to: at + (view.to - at) * factor },
    extent,
  );
  // At a limit, the instant still keeps its position if the extent allows it.
  const part = (at - view.from) / (view.to - view.from);
  const width = whole.to - whole.from;
  return unlessSame(
    view,
    clampView({ from: at - part * width, to: at + (1 - part) * width }, extent),
  );
}

/** `view` shifted to later times; `view` itself if it cannot move. */
export function panBy(view: Span, ps: number, extent: Span): Span {
  return unlessSame(view, clampView({ from: view.from + ps, to: view.to + ps }, extent));
}

/** Returns `view` itself if the change is invisible, so that nothing is redrawn or stored. */
function unlessSame(view: Span, next: Span): Span {
  const least = (view.to - view.from) * UNSEEN;
  const isSame = Math.abs(next.from - view.from) <= least && Math.abs(next.to - view.to) <= least;
  return isSame ? view : next;
}

/** Free room beside a span that is brought into view, as a share of it. */
const FIT_MARGIN = 0.1;

/** `span` with some room around it. */
export function fitView(span: Span, extent: Span): Span {
  const width = Math.max(span.to - span.from, CLOSEST);
  const room = width * FIT_MARGIN;
  const middle = (span.from + span.to) / 2;
  return clampView({ from: middle - width / 2 - room, to: middle + width / 2 + room }, extent);
}

/** The smallest shift of `view` that shows `span`: all of it if it fits, else its start. */
export function bringIntoView(view: Span, span: Span, extent: Span): Span {
  const width = view.to - view.from;
  const room = width * FIT_MARGIN;
  if (span.from < view.to - room && span.to > view.from + room) {
    const isInside = span.from >= view.from && span.to <= view.to;
    if (isInside || span.to - span.from > width) return view;
  }
  if (span.to - span.from > width)
    return clampView({ from: span.from - room, to: span.from - room + width }, extent);
  const middle = (span.from + span.to) / 2;
  return clampView({ from: middle - width / 2, to: middle + width / 2 }, extent);
}

/** Spans narrower than this share of the view are hard to see. */
const READABLE = 0.05;
/** The share of the view that an event takes when zoomed to, so that its neighbors are visible. */
const ZOOMED = 0.2;

/** A view that shows all of `span`, zoomed in if it would be hard to see, or out if it does not fit. */
export function zoomInto(view: Span, span: Span, extent: Span): Span {
  const length = span.to - span.from;
  const width = view.to - view.from;
  if (length >= width * READABLE && length <= width) return bringIntoView(view, span, extent);
  const room = (Math.max(length, CLOSEST) * (1 / ZOOMED - 1)) / 2;
  return clampView({ from: span.from - room, to: span.to + room }, extent);
}

/** Interpolates between two views, with `part` 0–1, at a constant zoom rate. */
export function between(from: Span, to: Span, part: number): Span {
  const [a, b] = [from.to - from.from, to.to - to.from];
  const width = a * (b / a) ** part;
  // The instant that both views show at the same position does not move.
  const share = Math.abs(b - a) < Math.max(a, b) * 1e-6 ? part : (width - a) / (b - a);
  const begin = from.from + (to.from - from.from) * share;
  return { from: begin, to: begin + width };
}

export function toX(ps: number, view: Span, width: number): number {
  return ((ps - view.from) / (view.to - view.from)) * width;
}

export function toPs(x: number, view: Span, width: number): number {
  return view.from + (x / width) * (view.to - view.from);
}
