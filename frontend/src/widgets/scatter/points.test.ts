import { expect, test } from "vitest";
import { markPath, markRadii, type ScatterPicture } from "./draw_scatter";
import { formatPower, type Roof, roofAt, type ScatterPoints, wholeRange } from "./points";
import { nearestPoint } from "./scatter";

const ROOFS: readonly Roof[] = [
  { label: "memory", bounds: "slope", value: 10, isMain: true },
  { label: "f16", bounds: "level", value: 1000, isMain: true },
  { label: "f32", bounds: "level", value: 100, isMain: false },
];

function points(
  ...list: readonly (readonly [x: number, y: number, weight: number])[]
): ScatterPoints {
  return {
    x: Float64Array.from(list, ([x]) => x),
    y: Float64Array.from(list, ([, y]) => y),
    weight: Float64Array.from(list, ([, , weight]) => weight),
    kind: new Int32Array(list.length),
  };
}

test("the roof at an intensity is the lowest line", () => {
  expect(roofAt(ROOFS, 1)).toEqual({ y: 10, label: "memory" });
  expect(roofAt(ROOFS, 50)).toEqual({ y: 100, label: "f32" });
  expect(roofAt([], 1)).toBeNull();
});

test("the axes show all points, and where the roofs bend", () => {
  const { x, y } = wholeRange(points([0.1, 1, 1], [1, 20, 1]), ROOFS);
  // The highest level meets the slope at 100.
  expect(10 ** x[0]).toBeLessThan(0.1);
  expect(10 ** x[1]).toBeGreaterThan(100);
  expect(10 ** y[0]).toBeLessThan(1);
  expect(10 ** y[1]).toBeGreaterThan(1000);
});

test("few decades are not stretched, and no points are not an error", () => {
  const { x } = wholeRange(points([2, 2, 1], [3, 3, 1]), []);
  expect(x[1] - x[0]).toBeGreaterThan(2);
  expect(wholeRange(points(), [])).toEqual({ x: [-1, 1], y: [-1, 1] });
});

test("powers of ten are written shortly", () => {
  expect([0.001, 1, 100, 1e3, 1e7, 1e12].map(formatPower)).toEqual([
    "0.001",
    "1",
    "100",
    "1 k",
    "10 M",
    "1 T",
  ]);
});

test("areas are proportional to weights, and small marks stay visible", () => {
  const radii = markRadii(points([1, 1, 100], [1, 1, 25], [1, 1, 0]));
  expect(radii[1]).toBeCloseTo(radii[0] / 2);
  expect(radii[2]).toBeGreaterThan(3);
});

test("marks of different kinds have different forms", () => {
  const forms = Array.from({ length: 9 }, (_, kind) => markPath(kind, 5));
  expect(new Set(forms).size).toBe(9);
});

test("a small mark within a large one can be pointed at", () => {
  const shown = points([1, 1, 100], [1.01, 1, 0.1], [100, 100, 1]);
  const axis = { title: "", format: String };
  const picture: ScatterPicture = {
    points: shown,
    kinds: [],
    roofs: [],
    x: axis,
    y: axis,
    range: { x: [-1, 3], y: [-1, 3] },
    width: 472,
    height: 464,
  };
  const radii = markRadii(shown);
  // The plot is 400 pixels wide and high: 100 to a decade.
  const [left, top] = [58 + 100, 24 + 300];
  expect(nearestPoint(picture, radii, left, top)).toBe(1);
  expect(nearestPoint(picture, radii, left - 15, top)).toBe(0);
  expect(nearestPoint(picture, radii, left + 200, top - 200)).toBe(2);
  expect(nearestPoint(picture, radii, left + 100, top)).toBeNull();
});
