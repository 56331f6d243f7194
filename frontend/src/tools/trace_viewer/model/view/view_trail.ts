/** The history of views that came to rest, for undo and for breadcrumbs. */
import { batch, effect } from "@preact/signals";
import type { TimelineModel } from "../model";
import type { Span, ViewPlace } from "../types";

const REST_MS = 400;
const MOST_PLACES = 100;
/** The tolerance, as a share of a view, within which it counts as inside another. */
const SLACK = 0.02;
/** A view wider than this share of another one is not a further zoom step. */
const NEARER = 0.9;

/** Records views that come to rest in `model.places`. Returns a function that stops this. */
export function followPlaces(model: TimelineModel): () => void {
  let zero = model.zero.peek();
  return effect(() => {
    const place = { view: model.view.value, range: model.range.value };
    // Other hosts shifted the axis, so earlier places are invalid.
    if (model.zero.value !== zero) {
      zero = model.zero.value;
      model.places.value = [];
    }
    if (model.hosts.value.length === 0) return;
    const timer = setTimeout(() => {
      const { places } = model;
      if (!isSame(places.peek().at(-1), place))
        places.value = [...places.peek(), place].slice(-MOST_PLACES);
    }, REST_MS);
    return () => clearTimeout(timer);
  });
}

/** Undoes the last zoom, pan or range, and returns whether there was one. */
export function goBack(model: TimelineModel): boolean {
  const { view, range, places } = model;
  const now = { view: view.peek(), range: range.peek() };
  const before = isSame(places.peek().at(-1), now) ? places.peek().slice(0, -1) : places.peek();
  const last = before.at(-1);
  if (!last) return false;
  batch(() => {
    places.value = before;
    view.value = last.view;
    range.value = last.range;
  });
  return true;
}

/** Nested views, from the widest to the current one. */
export function trailOf(places: readonly ViewPlace[]): readonly Span[] {
  const trail: Span[] = [];
  for (const { view } of places) {
    while (trail.length > 0 && !isWithin(trail[trail.length - 1], view)) trail.pop();
    if (trail.at(-1) !== view) trail.push(view);
  }
  return trail;
}

function isWithin(outer: Span, inner: Span): boolean {
  if (outer === inner) return true;
  const width = outer.to - outer.from;
  const slack = width * SLACK;
  return (
    inner.from >= outer.from - slack &&
    inner.to <= outer.to + slack &&
    inner.to - inner.from < width * NEARER
  );
}

function isSame(a: ViewPlace | undefined, b: ViewPlace): boolean {
  return (
    a !== undefined &&
    a.view.from === b.view.from &&
    a.view.to === b.view.to &&
    a.range?.from === b.range?.from &&
    a.range?.to === b.range?.to
  );
}
