import { expect, test } from "vitest";
import { parseMemory } from "./payload";
import {
  lastPointBefore,
  marksOf,
  type Plan,
  pointAt,
  topOf,
  wholeView,
  windowOf,
  xOf,
  zoomed,
} from "./plan";
import { GIB, sampleMemory } from "./sample.test_helper";

const MEMORY = parseMemory(sampleMemory());
const NONE = new Set<string>();
/** A pixel is 10 µs. */
const PLAN: Plan = { left: 50, right: 850, top: 0, bottom: 100, from: 0, to: 8e9, most: 16 * GIB };

test("the window of the address stays within the recording", () => {
  expect(windowOf(MEMORY, {})).toEqual({ from: 0, to: 8e9, isZoomed: false });
  expect(windowOf(MEMORY, { from_ps: "1000", to_ps: "99000000000" })).toEqual({
    from: 1000,
    to: 8e9,
    isZoomed: true,
  });
  expect(windowOf(MEMORY, { from_ps: "5", to_ps: "4" }).isZoomed).toBe(false);
  expect(windowOf(MEMORY, { from_ps: "<b>", to_ps: "-1" }).isZoomed).toBe(false);
});

test("what passes before the first event is left out where it is most of the recording", () => {
  const time = MEMORY.timeline.time.map((at) => at + 92e9);
  const late = { ...MEMORY, end: 100e9, timeline: { ...MEMORY.timeline, time } };
  const { from, to, isZoomed } = windowOf(late, {});
  expect([from, to, isZoomed]).toEqual([time[0] - 0.05 * (100e9 - time[0]), 100e9, true]);
  const whole = wholeView(late);
  expect(whole).toEqual({ from_ps: "0", to_ps: "100000000000" });
  expect(windowOf(late, { from_ps: "0", to_ps: "100000000000" })).toEqual({
    from: 0,
    to: 100e9,
    isZoomed: false,
  });
  expect(wholeView(MEMORY)).toEqual({ from_ps: null, to_ps: null });
});

test("the axis reaches what is shown in the window, and what began before it", () => {
  const all = { from: 0, to: 8e9 };
  expect(topOf(MEMORY, NONE, all)).toBeCloseTo(16.64 * GIB, 0);
  expect(topOf(MEMORY, new Set(["free"]), all)).toBeCloseTo(4.16 * GIB, 0);
  // At 4.5 ms the point of 4 ms holds.
  expect(topOf(MEMORY, new Set(["free"]), { from: 4.5e9, to: 4.6e9 })).toBeCloseTo(3.12 * GIB, 0);
});

test("the axis of an empty window reaches the capacity", () => {
  expect(topOf(MEMORY, NONE, { from: 0, to: 0.5e9 })).toBe(16 * GIB);
});

test("the last point before the pointer is meant, or the fullest one close by", () => {
  const at = (time: number) => pointAt(MEMORY.timeline, PLAN, xOf(PLAN, time));
  expect(at(3e9)).toBe(2);
  expect(at(3.5e9)).toBe(2);
  expect(at(3.98e9)).toBe(3);
  expect(at(0.5e9)).toBe(-1);
  const coarse = { ...PLAN, left: 50, right: 58 };
  expect(pointAt(MEMORY.timeline, coarse, xOf(coarse, 5e9))).toBe(2);
});

test("the last time before is found by halves", () => {
  const times = Float64Array.of(1, 2, 2, 5);
  expect([0, 1, 2, 4, 9].map((time) => lastPointBefore(times, time))).toEqual([-1, 0, 2, 2, 3]);
});

test("marks are round in the written unit", () => {
  const { values, increment } = marksOf(0, 8e9, 1e-9, 4);
  expect(increment).toBeCloseTo(2e9, 3);
  expect(values.map(Math.round)).toEqual([0, 2e9, 4e9, 6e9, 8e9]);
  expect(marksOf(1.5, 7.9, 1, 4).values).toEqual([2, 4, 6]);
  expect(marksOf(3, 3, 1, 4).values).toEqual([]);
});

test("zooming keeps the middle in place, and ends at the whole recording", () => {
  const all = { from: 0, to: 8e9 };
  expect(zoomed(MEMORY, all, 0.5, 4e9)).toEqual({ from: 2e9, to: 6e9 });
  expect(zoomed(MEMORY, all, 0.5, 0)).toEqual({ from: 0, to: 4e9 });
  expect(zoomed(MEMORY, { from: 2e9, to: 6e9 }, 2, 3e9)).toBeNull();
});
