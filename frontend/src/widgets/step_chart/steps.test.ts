import { expect, test } from "vitest";
import { axisScale, findColumns, type StepSeries, stepName, stepTotals } from "./steps";

function series(...values: number[]): StepSeries {
  return { id: "a", label: "A", color: "var(--c-input)", values: Float64Array.from(values) };
}

test("a stack sums what was measured; lines have their largest value", () => {
  const parts = [series(1, Number.NaN, 3), series(4, 5, 1)];
  expect([...stepTotals(parts, 3)]).toEqual([5, 5, 4]);
  expect([...stepTotals(parts, 3, "line")]).toEqual([4, 5, 3]);
  const band = { ...series(1, 2), high: Float64Array.of(7, 1) };
  expect([...stepTotals([band], 2, "line")]).toEqual([7, 2]);
});

test("a column per step where there is room", () => {
  expect(findColumns(Float64Array.of(1, 2, 3, 4), 1, 3, 10)).toEqual([
    { from: 1, to: 2, step: 1 },
    { from: 2, to: 3, step: 2 },
  ]);
});

test("else the slowest step of each column, whose borders stay while the view moves", () => {
  const totals = Float64Array.of(1, 9, 2, 2, 3, 8, 7);
  expect(findColumns(totals, 0, 7, 3)).toEqual([
    { from: 0, to: 3, step: 1 },
    { from: 3, to: 6, step: 5 },
    { from: 6, to: 7, step: 6 },
  ]);
  expect(findColumns(totals, 1, 7, 3)[1]).toEqual({ from: 2, to: 4, step: 2 });
});

test("ten thousand steps keep their one outlier", () => {
  const totals = new Float64Array(10_000).fill(1);
  totals[7654] = 50;
  const columns = findColumns(totals, 0, 10_000, 900);
  expect(columns.length).toBeLessThanOrEqual(900);
  expect(columns.some((column) => column.step === 7654)).toBe(true);
});

test("the axis has the unit of what is in view", () => {
  const totals = Float64Array.of(5_000_000, 20);
  expect(axisScale(totals, 0, 2, "time").scale.unit).toBe("s");
  expect(axisScale(totals, 1, 2, "time")).toMatchObject({ top: 21, scale: { unit: "µs" } });
  expect(axisScale(Float64Array.of(4600), 0, 1, "time").scale.unit).toBe("ms");
});

test("an axis of shares ends at a round number: 100 % above 80.3 %", () => {
  const top = (most: number) => axisScale(Float64Array.of(most), 0, 1, "percent").top;
  expect([0.68, 3, 5, 11.4, 80.3, 100].map(top)).toEqual([1, 4, 5, 20, 100, 100]);
  // Rounding may have added a little.
  expect(top(100.0001)).toBeCloseTo(105);
});

test("a step is called by its number, or by the name that the trace gives it", () => {
  const steps = { labels: ["7", "train 8"], isTruncated: [false, false] };
  expect([stepName(steps, 0), stepName(steps, 1)]).toEqual(["Step 7", "train 8"]);
});
