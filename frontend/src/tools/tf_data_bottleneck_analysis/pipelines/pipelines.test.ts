import { expect, test } from "vitest";
import { plainType, readLongName, workOf } from "../iterators";
import { parseTfData } from "../payload";
import { samplePayload } from "../sample.test_helper";
import { slowPlace, usedBins } from "./latency_histogram";
import { COLUMNS, nextOrder, readOrder, sortPipelines } from "./pipeline_order";

test("types are known without version and index", () => {
  expect(
    ["ParallelMapV2", "BatchV2", "Zip[0]", "ParallelInterleaveV4[1]", "V2"].map(plainType),
  ).toEqual(["ParallelMap", "Batch", "Zip", "ParallelInterleave", ""]);
  expect(workOf("PaddedBatchV2")).toBe("pads elements to one size and batches them");
  expect(workOf("constructor")).toBe("");
});

test("a long name is read from the stage to what its elements go through", () => {
  expect(readLongName("Iterator::Batch::Mine::Map")).toEqual([
    { text: "Iterator", meaning: "begins all names of iterators" },
    { text: "Batch", meaning: "further on: combines elements into batches" },
    { text: "Mine", meaning: "takes its elements" },
    { text: "Map", meaning: "this stage: applies a function to each element" },
  ]);
});

test("pipelines are in the order of any column, the longest call first by default", () => {
  const { pipelines } = parseTfData(samplePayload());
  const names = (order: string | undefined) =>
    sortPipelines(pipelines, readOrder(order)).map(({ host, name }) => `${host} ${name}`);
  expect(names(undefined)).toEqual(["h0 Host:0", "h1 Host:0", "h0 Device:0"]);
  expect(names("-max")).toEqual(["h0 Device:0", "h1 Host:0", "h0 Host:0"]);
  expect(names("calls")[0]).toBe("h0 Device:0");
  expect(names("-host")[0]).toBe("h1 Host:0");
  expect(names("nonsense")).toEqual(names(undefined));
  const missing = { ...pipelines[0], name: "none", mean: Number.NaN as never };
  const order = readOrder("-mean");
  expect(sortPipelines([missing, ...pipelines], order).at(-1)?.name).toBe("none");
  expect(nextOrder(order, order.column)).toBe("mean");
  expect(nextOrder(readOrder("mean"), order.column)).toBe("-mean");
  expect(nextOrder(order, COLUMNS[0])).toBe("host");
});

test("histograms begin and end where any pipeline has calls, at some width", () => {
  const edges = [1, 10, 100, 1000, 10000];
  const few = usedBins(edges, [
    [0, 3, 0, 0],
    [0, 0, 1, 0],
  ]);
  expect([few.first, few.last]).toEqual([0, 3]);
  const bins = usedBins(
    Array.from({ length: 31 }, (_, index) => 10 ** (index / 5)),
    [Array.from({ length: 30 }, (_, index) => Number(index >= 5 && index < 20))],
  );
  expect([bins.first, bins.last]).toEqual([5, 19]);
  expect(usedBins(edges, []).last).toBe(-1);
  // 50 is at 0.7 of the way from 10 to 100 by the logarithm.
  expect(slowPlace(few)).toBeCloseTo(1 + Math.log10(5));
  expect(slowPlace({ ...few, first: 3, last: 3 })).toBe(0);
  expect(slowPlace({ ...few, first: 0, last: 0 })).toBe(1);
});
