import { expect, test } from "vitest";
import { formatTraceTime, traceTimeScale } from "../format";
import { parseMemory } from "../payload";
import { GIB, sampleMemory } from "../sample.test_helper";
import {
  lastPointBefore,
  type Plan,
  pointAt,
  topOf,
  wholeView,
  windowOf,
  xOf,
  zoomed,
} from "./plan";

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
  const steps = { ...MEMORY.steps, labels: [] };
  const late = { ...MEMORY, steps, end: 100e9, timeline: { ...MEMORY.timeline, time } };
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

test("the window opens on the steps and the peak, with room about them", () => {
  const long = { ...MEMORY, end: 100e9 };
  // The steps last from 0 to 7.5 ms, the peak is at 3 ms.
  expect(windowOf(long, {})).toEqual({ from: 0, to: 7.875e9, isZoomed: true });
  const [first, ...others] = MEMORY.allocators;
  const outside = { ...long, allocators: [{ ...first, peakAt: 47.5e9 }, ...others] };
  expect(windowOf(outside, {})).toEqual({ from: 0, to: 49.875e9, isZoomed: true });
  const unknown = { ...long, allocators: [{ ...first, peakAt: Number.NaN }, ...others] };
  expect(windowOf(unknown, {}).to).toBe(7.875e9);
});

test("the axis reaches what is shown in the window, and what began before it", () => {
  const all = { from: 0, to: 8e9 };
  expect(topOf(MEMORY, NONE, all)).toBeCloseTo(16.64 * GIB, 0);
  expect(topOf(MEMORY, new Set(["free"]), all)).toBeCloseTo(16.64 * GIB, 0);
  const used = new Set(["free", "capacity"]);
  expect(topOf(MEMORY, used, all)).toBeCloseTo(4.16 * GIB, 0);
  // At 4.5 ms the point of 4 ms holds.
  expect(topOf(MEMORY, used, { from: 4.5e9, to: 4.6e9 })).toBeCloseTo(3.12 * GIB, 0);
});

test("the axis of an empty window reaches the capacity", () => {
  expect(topOf(MEMORY, new Set(["capacity"]), { from: 0, to: 0.5e9 })).toBe(16 * GIB);
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

test("zooming keeps the middle in place, and ends at the whole recording", () => {
  const all = { from: 0, to: 8e9 };
  expect(zoomed(MEMORY, all, 0.5, 4e9)).toEqual({ from: 2e9, to: 6e9 });
  expect(zoomed(MEMORY, all, 0.5, 0)).toEqual({ from: 0, to: 4e9 });
  expect(zoomed(MEMORY, { from: 2e9, to: 6e9 }, 2, 3e9)).toBeNull();
});

test("long times are in seconds, with the decimals of the window", () => {
  expect(formatTraceTime(2_586.982e9)).toBe("2,586.982 ms");
  expect(formatTraceTime(15_663.376e9)).toBe("15.663 s");
  expect(formatTraceTime(15_663.376e9, 500e9)).toBe("15.663376 s");
  expect([traceTimeScale(9_999e9).unit, traceTimeScale(10_000e9).unit]).toEqual(["ms", "s"]);
});
