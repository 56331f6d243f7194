import { expect, test } from "vitest";
import type { CounterPoints } from "../protocol/payload";
import { stage } from "../scene/scene.test_helper";
import { shareInView, valueAt } from "./in_view";
import type { PiecePart } from "./window_store";

/** Of [0, 4000) ps. */
const { source } = stage([{ row: 0, start: 0, duration: 5, type: 1 }], 4000);

function part<T>(data: T | null, lowPs = 0, highPs = 4096, level = 0): PiecePart<T> {
  return { level, from: 0, to: 2, data, lowPs, highPs };
}

/** Level 3: buckets of 8 ps, busy to a half in the first 1,000 ps, then wholly to 2,000 ps. */
const busy = new Float32Array(512).fill(0.5, 0, 125).fill(1, 125, 250);

test("a view is as busy as what it shows, without what lies beside the trace", () => {
  const share = (from: number, to: number, parts = [[part(busy, 0, 4096, 3)]]) =>
    shareInView({ from, to }, source, parts);
  expect(share(0, 1000)).toBeCloseTo(0.5, 6);
  expect(share(500, 1500)).toBeCloseTo(0.75, 6);
  expect(share(1002, 1005)).toBeCloseTo(1, 6);
  expect(share(0, 4000)).toBeCloseTo(0.375, 6);
  expect(share(-4000, 8000)).toBeCloseTo(0.375, 6);
  expect(
    share(0, 1000, [
      [part(busy, 0, 4096, 3)],
      [
        part(
          busy.map(() => 1),
          0,
          4096,
          3,
        ),
      ],
    ]),
  ).toBeCloseTo(0.75, 6);
});

test("the last bucket reaches beyond the trace, and is none the less busy for it", () => {
  const end = new Float32Array(4).fill(1, 0, 3);
  // Buckets of 1,024 ps; of the last, from 3,072 to 4,096, the trace has 928 ps.
  end[3] = 928 / 1024;
  expect(shareInView({ from: 0, to: 5000 }, source, [[part(end, 0, 4096, 10)]])).toBeCloseTo(1, 6);
});

test("what is not there yet is left out; nothing at all is not a share", () => {
  const half = [[part(busy, 0, 1000, 3), part<Float32Array>(null, 1000, 4096, 3)]];
  expect(shareInView({ from: 0, to: 4000 }, source, half)).toBeCloseTo(0.5, 6);
  expect(shareInView({ from: 0, to: 4000 }, source, [])).toBeNull();
  expect(shareInView({ from: 9000, to: 9500 }, source, half)).toBeNaN();
});

test("a counter is what it was last, within a bucket all that it went through", () => {
  const columns = [
    [1000, 2000],
    [5, 8],
    [9, 20],
    [7, 10],
  ].map((column) => Float64Array.from(column));
  const points: CounterPoints = {
    timePs: columns[0],
    min: columns[1],
    max: columns[2],
    last: columns[3],
  };
  const at = (ps: number) => valueAt([part(points, 0, 4096, 6)], source, ps);
  expect(at(900)).toBeNull();
  expect(at(1000)).toEqual({ last: 7, min: 5, max: 9 });
  expect(at(1064)).toEqual({ last: 7, min: 7, max: 7 });
  expect(at(3999)).toEqual({ last: 10, min: 10, max: 10 });
  expect(at(4001)).toBeNull();
  expect(at(-1)).toBeNull();
  expect(valueAt([part<CounterPoints>(null)], source, 50)).toBeNull();
});
