import { expect, test } from "vitest";
import { parseHeap } from "../payload";
import { sampleHeap } from "../sample.test_helper";
import {
  barAt,
  eventAt,
  fixedParts,
  planHeap,
  pointOf,
  xOfEvent,
  yOfUse,
  zoomedEvents,
} from "./heap_plan";

const heap = parseHeap(sampleHeap());
const plan = planHeap(heap, {
  left: 0,
  right: 400,
  top: 0,
  middle: 104,
  barsTop: 200,
  bottom: 328,
});

test("an event has a width, and what is in use a height from the axis", () => {
  expect([0, 1, 4].map((event) => xOfEvent(plan, event))).toEqual([0, 100, 400]);
  expect([0, 99, 100, 399, 1000, -5].map((x) => eventAt(plan, x))).toEqual([0, 0, 1, 3, 3, 0]);
  expect(yOfUse(plan, 0)).toBe(104);
  expect(yOfUse(plan, 7168)).toBeCloseTo(4);
});

test("a point holds until the next", () => {
  expect([-1, 0, 2, 9].map((event) => pointOf(heap.timeline, event))).toEqual([-1, 0, 2, 3]);
});

test("a bar is hit during its life at its place, the smaller one of two", () => {
  const hit = (x: number, y: number) => {
    const bar = barAt(heap.bars, plan, x, y);
    return bar < 0 ? null : heap.bars.name[bar];
  };
  expect(hit(350, 210)).toBe("x");
  expect(hit(150, 300)).toBe("dot{1}");
  expect(hit(350, 300)).toBeNull();
  expect(hit(10, 270)).toBe("norm");
  expect(hit(250, 270)).toBeNull();
});

test("a window zooms about an event and stays within the events", () => {
  expect(zoomedEvents({ from: 0, to: 100 }, 100, 0.5, 50)).toEqual([25, 75]);
  expect(zoomedEvents({ from: 0, to: 100 }, 100, 0.5, 99)).toEqual([50, 100]);
  expect(zoomedEvents({ from: 25, to: 75 }, 100, 4, 50)).toEqual([0, 100]);
  expect(zoomedEvents({ from: 4, to: 5 }, 100, 0.5, 4)).toEqual([4, 5]);
});

test("memory in use throughout is split by purpose, donated parameters counting once", () => {
  const sizes = (figures: object) =>
    fixedParts({ ...heap.figures, ...figures }).map(({ size }) => size);
  // 100 in total, of which 40 are temporary: 30 parameters and 30 results share 10, and 10 constants.
  const program = { peak: 100, temporaries: 40, parameters: 30, outputs: 30, donated: 10 };
  expect(sizes({ ...program, constants: 10 })).toEqual([30, 20, 10]);
  expect(sizes({ ...program, peak: 40, constants: Number.NaN })).toEqual([0, 0, 0]);
});
