import { expect, test } from "vitest";
import { sampleTable } from "../../widgets/table/sample.test_helper";
import { findCharts, sliceFilter } from "./charts";

function chartsOf(names: readonly string[], types: readonly string[], values: readonly number[]) {
  return findCharts(
    sampleTable({
      operation: names,
      type: types,
      host_or_device: names.map(() => "Device"),
      total_self_time: values,
    }),
  );
}

const range = Array.from({ length: 100 }, (_, index) => index);

test("the chart by op folds layers where single ops are too small", () => {
  const names = range.map((at) => `layer_${at}/mul`);
  const [byOp, byType] = chartsOf(names, Array(100).fill("Mul"), Array(100).fill(1));
  expect(byOp.slices.map(({ name, share }) => [name, share])).toEqual([["layer_*/mul", 1]]);
  expect(sliceFilter(byOp, byOp.slices[0])).toBe("/^layer([._]\\d+)?\\/mul$/");
  expect([byType.id, byType.slices.length]).toEqual(["type", 1]);
});

test("a chart in which the others are most of it is left out", () => {
  const names = range.map((at) => `op${at}x`);
  const charts = chartsOf(names, Array(100).fill("Mul"), Array(100).fill(1));
  expect(charts.map(({ id }) => id)).toEqual(["type"]);
});

test("large ops are named as they are", () => {
  const [byOp] = chartsOf(["a_0", "a_1", "b"], ["A", "A", "B"], [5, 3, 2]);
  expect(byOp.slices.map(({ name }) => name)).toEqual(["a_0", "a_1", "b"]);
  expect(sliceFilter(byOp, byOp.slices[1])).toBe("=a_1");
});
