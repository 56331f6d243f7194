import { expect, test } from "vitest";
import { sampleTable } from "../../widgets/table/sample.test_helper";
import { readStepTable, waitingRange } from "./step_table";

test("steps are split into phases that sum to them, in µs", () => {
  const table = sampleTable({
    stepnum: ["1", "2"],
    deviceComputeTimeMs: [3, 3],
    deviceCompute16Ms: [1, 1],
    deviceCompute8Ms: [0.5, 0],
    deviceCompute32Ms: [1.5, 2],
    infeedTimeMs: [1, 2],
    otherTimeMs: [0, 0.5],
    stepTimeMs: [4, 5.5],
    isTruncated: [true, false],
  });
  const steps = readStepTable(table);
  expect(steps.labels).toEqual(["1", "2"]);
  expect(steps.series.map(({ id, values }) => [id, ...values])).toEqual([
    ["compute_16", 1500, 1000],
    ["compute_32", 1500, 2000],
    ["input", 1000, 2000],
    ["other", 0, 500],
  ]);
  expect([...steps.total]).toEqual([4000, 5500]);
  expect(steps.average).toBe(5500);
});

test("compute is one part where nothing splits it", () => {
  const table = sampleTable({ stepnum: ["1"], deviceComputeTimeMs: [3], infeedTimeMs: [1] });
  expect(readStepTable(table).series.map(({ id }) => id)).toEqual(["device_compute", "input"]);
});

test("no steps have no average", () => {
  expect(readStepTable(sampleTable({ stepnum: [] })).average).toBeNaN();
});

test("steps that were not recorded have no parts, and are in no average", () => {
  const steps = readStepTable(
    sampleTable({
      stepnum: ["1", "2"],
      infeedTimeMs: [1, null],
      stepTimeMs: [4, null],
      isTruncated: [false, false],
      isUnrecorded: [false, true],
    }),
  );
  expect(steps.isUnrecorded).toEqual([false, true]);
  expect([...steps.series[0].values]).toEqual([1000, Number.NaN]);
  expect(steps.average).toBe(4000);
});

test("outliers are left out unless all steps are chosen, and say why they are", () => {
  const columns = {
    stepnum: ["1", "2", "3"],
    stepTimeMs: [4, 40, 6],
    waitingPercentMin: [10, 0, 20],
    waitingPercentMax: [30, 99, 40],
    isTruncated: [false, false, false],
    outlierCause: ["", "36 ms longer than a typical step", ""],
  };
  const typical = readStepTable(sampleTable(columns));
  expect(typical.isLeftOut).toEqual([false, true, false]);
  expect([typical.isTypical, typical.average]).toEqual([true, 5000]);
  expect(waitingRange(typical)).toEqual([10, 40]);
  const properties = {
    steps_chosen: "all",
    infeed_percent_minimum: "0.0",
    infeed_percent_maximum: "99.0",
  };
  const all = readStepTable({ ...sampleTable(columns), properties });
  expect(all.isLeftOut).toEqual([false, false, false]);
  expect([all.isTypical, all.average]).toEqual([false, 50_000 / 3]);
  expect(all.outliers[1]).toContain("36 ms longer");
  expect(waitingRange(all)).toEqual([0, 99]);
});
