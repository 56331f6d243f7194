/** Where the view has rested: the way back, and the way in as breadcrumbs. */
import { batch, effect } from "@preact/signals";
import type { TimelineModel } from "./model";
import type { Place, Span } from "./types";

const REST_MS = 400;
const MOST_PLACES = 100;
/** A view is within another though its edges are out by this share of it. */
const SLACK = 0.02;
/** Of a view: what is wider is not a step further in. */
const NEARER = 0.9;

/** Keeps `model.places` equal to where the view has rested. Returns what ends that. */
export function followPlaces(model: TimelineModel): () => void {
  let zero = model.zero.peek();
  return effect(() => {
    const place = { view: model.view.value, range: model.range.value };
    // Other hosts have moved the axis: the places before are elsewhere.
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

/** Undoes the last zoom, move or range. Whether there was one. */
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

/** Views that lie in each other, from the widest to the one at which the last place is. */
export function trailOf(places: readonly Place[]): readonly Span[] {
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

function isSame(a: Place | undefined, b: Place): boolean {
  return (
    a !== undefined &&
    a.view.from === b.view.from &&
    a.view.to === b.view.to &&
    a.range?.from === b.range?.from &&
    a.range?.to === b.range?.to
  );
}
