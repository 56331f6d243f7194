import { expect, test } from "vitest";
import { shortLabels } from "../../../widgets/step_chart/axis_labels";
import { columnLabels, runs } from "./heat_labels";
import { heatCells, placeOf, planHeat, spotAt } from "./heat_plan";

const X = Number.NaN;

test("few workers and steps have cells of a comfortable size", () => {
  expect(planHeat(8, 10, 1000, 264)).toEqual({
    rows: 8,
    columns: 10,
    workersPerRow: 1,
    stepsPerColumn: 1,
    rowHeight: 22,
    columnWidth: 100,
    width: 1000,
    height: 176,
  });
});

test("more workers or steps than pixels share cells", () => {
  const plan = planHeat(4096, 3000, 1200, 264);
  expect(plan).toMatchObject({ workersPerRow: 16, rows: 256, stepsPerColumn: 3, columns: 1000 });
  expect(plan.height).toBeLessThanOrEqual(264);
  expect(plan.width).toBeCloseTo(1200);
});

test("a shared cell has its largest value, and the pointer finds whose it is", () => {
  const plan = { ...planHeat(3, 4, 2, 2), rowHeight: 10, columnWidth: 10 };
  expect(plan).toMatchObject({ workersPerRow: 2, stepsPerColumn: 2, rows: 2, columns: 2 });
  const values = Float32Array.of(1, 2, 3, 4, 5, X, 9, 0, X, X, 7, 8);
  expect([...heatCells(values, 3, 4, plan)]).toEqual([5, 9, X, 8]);
  const at = (x: number, y: number) => spotAt(values, 3, 4, plan, x, y);
  expect(at(0, 0)).toEqual({ worker: 1, step: 0 });
  expect(at(15, 5)).toEqual({ worker: 1, step: 2 });
  expect(at(5, 15)).toEqual({ worker: 2, step: 0 });
  expect(at(15, 15)).toEqual({ worker: 2, step: 3 });
  expect(at(25, 5)).toBeNull();
  expect(at(-1, 5)).toBeNull();
  expect(placeOf(plan, { worker: 2, step: 3 })).toEqual({ left: 10, top: 10 });
});

test("labels keep clear of each other", () => {
  const plan = planHeat(2, 100, 1000, 264);
  const labels = columnLabels(
    Array.from({ length: 100 }, (_, index) => String(index)),
    plan,
  );
  expect(labels[1].middle - labels[0].middle).toBeGreaterThanOrEqual(29);
  expect(labels[0]).toEqual({ text: "0", middle: 5 });
});

test("steps lose what all their names share", () => {
  expect(shortLabels(["train 3", "train 4"])).toEqual({ shared: "train", short: ["3", "4"] });
  expect(shortLabels(["train 3", "eval 4"])).toEqual({ shared: "", short: ["train 3", "eval 4"] });
  expect(shortLabels(["7"])).toEqual({ shared: "", short: ["7"] });
  expect(shortLabels([])).toEqual({ shared: "", short: [] });
});

test("runs of equal neighbors", () => {
  expect([...runs(Int32Array.of(0, 0, 1, 0))]).toEqual([
    [0, 2],
    [2, 3],
    [3, 4],
  ]);
  expect([...runs(Int32Array.of(0, 0), 1)]).toHaveLength(2);
  expect([...runs(new Int32Array(0))]).toEqual([]);
});
