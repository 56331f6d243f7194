import { expect, test } from "vitest";
import {
  between,
  bringIntoView,
  chooseLevel,
  clampView,
  fitView,
  panBy,
  tilesOf,
  toPs,
  toX,
  zoomAt,
  zoomInto,
} from "./view_math";

const extent = { from: 0, to: 1e12 };

test("a bucket is 0.7 to 1.4 pixels wide, and never under 1 ps", () => {
  for (let psPerPixel = 1; psPerPixel < 1e15; psPerPixel *= 1.07) {
    const bucket = 2 ** chooseLevel(psPerPixel);
    expect(bucket / psPerPixel).toBeLessThanOrEqual(1.4);
    expect(bucket / psPerPixel).toBeGreaterThan(0.7);
  }
  expect(chooseLevel(0.01)).toBe(0);
});

test("the tiles of a view end with the trace", () => {
  expect(tilesOf({ from: 0, to: 1023 }, 0, 0, 1e6)).toEqual({ from: 0, to: 2 });
  expect(tilesOf({ from: 512, to: 1024 }, 0, 0, 1e6)).toEqual({ from: 1, to: 3 });
  expect(tilesOf({ from: -9e9, to: 9e9 }, 0, 0, 5000)).toEqual({ from: 0, to: 10 });
  expect(tilesOf({ from: 100, to: 700 }, 0, 100, 5000)).toEqual({ from: 0, to: 2 });
  expect(tilesOf({ from: 9e9, to: 9.1e9 }, 0, 0, 5000)).toMatchObject({ from: 17578125 });
  const beyond = tilesOf({ from: 9e9, to: 9.1e9 }, 0, 0, 5000);
  expect(beyond.to).toBe(beyond.from);
});

test("views stay within the trace and a margin", () => {
  expect(clampView({ from: -1e12, to: 5e12 }, extent)).toEqual({ from: -5e10, to: 1.05e12 });
  expect(clampView({ from: 2e12, to: 2.1e12 }, extent)).toEqual({ from: 9.5e11, to: 1.05e12 });
  const close = clampView({ from: 500, to: 501 }, extent);
  expect(close.to - close.from).toBe(100);
  const same = { from: 1e11 / 3, to: 2e11 / 3 };
  expect(clampView(same, extent)).toEqual(same);
});

test("a trace of a single instant has a view", () => {
  const view = clampView({ from: 0, to: 1 }, { from: 0, to: 1 });
  expect(view.to).toBeGreaterThan(view.from);
});

test("years apart, views stay as close as numbers tell times apart", () => {
  const year = 3.15e19;
  const view = clampView({ from: year, to: year + 1 }, { from: 0, to: 2 * year });
  expect((view.to - view.from) / 1400).toBeGreaterThan(2 ** -52 * year);
});

test("the instant under the cursor stays while zooming", () => {
  let view = { from: 2e11, to: 6e11 };
  const at = toPs(300, view, 1000);
  for (let step = 0; step < 300; step++) view = zoomAt(view, at, 0.9, extent);
  expect(toX(at, view, 1000)).toBeCloseTo(300, 0);
  expect(view.to - view.from).toBeCloseTo(100, 3);
  for (let step = 0; step < 400; step++) view = zoomAt(view, at, 1.1, extent);
  expect(view).toEqual({ from: -5e10, to: 1.05e12 });
});

test.each([1e12, 3.15e19])("at its limits a view of %d ps stays the same", (length) => {
  const whole = { from: 0, to: length };
  for (const factor of [0.9, 1.1]) {
    let view = { from: length / 3, to: length / 2 };
    const at = toPs(300, view, 1000);
    for (let step = 0; step < 400; step++) view = zoomAt(view, at, factor, whole);
    for (const next of [0.95, 0.9, 0.999].map((power) => zoomAt(view, at, factor ** power, whole)))
      expect(next).toBe(view);
  }
  for (const direction of [-1, 1]) {
    let view = { from: length / 3, to: length / 2 };
    for (let step = 0; step < 50; step++) view = panBy(view, (direction * length) / 9, whole);
    expect(panBy(view, (direction * length) / 9, whole)).toBe(view);
  }
});

test("a pixel is a move", () => {
  const view = { from: 5e11, to: 5e11 + 100 };
  expect(panBy(view, 0.05, extent)).not.toBe(view);
  expect(zoomAt(view, 5e11, 1.001, extent)).not.toBe(view);
});

test("panning keeps the width, also at the ends", () => {
  const view = panBy({ from: 9e11, to: 1e12 }, 9e11, extent);
  expect(view.to - view.from).toBeCloseTo(1e11, 0);
  expect(view.to).toBe(1.05e12);
});

test("what is fitted has room around it", () => {
  expect(fitView({ from: 1e11, to: 2e11 }, extent)).toEqual({ from: 0.9e11, to: 2.1e11 });
  const instant = fitView({ from: 1e11, to: 1e11 }, extent);
  expect(instant.to - instant.from).toBeGreaterThanOrEqual(100);
});

test("what is in view does not move it", () => {
  const view = { from: 1e11, to: 2e11 };
  expect(bringIntoView(view, { from: 1.2e11, to: 1.3e11 }, extent)).toBe(view);
  expect(bringIntoView(view, { from: 0, to: 9e11 }, extent)).toBe(view);
  const moved = bringIntoView(view, { from: 5e11, to: 5.1e11 }, extent);
  expect(moved.from).toBeCloseTo(4.55e11, -5);
  const long = bringIntoView(view, { from: 5e11, to: 9e11 }, extent);
  expect(long.from).toBeCloseTo(4.9e11, -5);
});

test("between two views the zoom is steady and ends at the second", () => {
  const [from, to] = [
    { from: 0, to: 1e12 },
    { from: 4e11, to: 4.001e11 },
  ];
  expect(between(from, to, 0)).toEqual(from);
  const end = between(from, to, 1);
  expect(end.from).toBeCloseTo(to.from, 0);
  expect(end.to).toBeCloseTo(to.to, 0);
  const half = between(from, to, 0.5);
  expect(half.to - half.from).toBeCloseTo(Math.sqrt(1e12 * 1e8), 0);
  const aside = between({ from: 0, to: 10 }, { from: 100, to: 110 }, 0.5);
  expect(aside).toEqual({ from: 50, to: 60 });
});

test("a hit is zoomed to where it would be hard to make out, and its neighbors are seen", () => {
  const extent = { from: 0, to: 1e9 };
  const near = zoomInto({ from: 0, to: 1e9 }, { from: 500_000, to: 501_000 }, extent);
  expect(near).toEqual({ from: 498_000, to: 503_000 });
  // The next one is as wide, and does not zoom again.
  const next = zoomInto(near, { from: 502_000, to: 502_900 }, extent);
  expect(next).toBe(near);
  const later = zoomInto(near, { from: 602_000, to: 602_900 }, extent);
  expect(later.to - later.from).toBe(near.to - near.from);
  expect(zoomInto(near, { from: 400_000, to: 500_000 }, extent)).toEqual({
    from: 200_000,
    to: 700_000,
  });
});
