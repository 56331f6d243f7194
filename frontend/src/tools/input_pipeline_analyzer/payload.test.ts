import { expect, test } from "vitest";
import { numbers } from "../../api/data_table";
import { rankCores } from "./cores";
import { parseInputPipeline } from "./payload";
import { samplePipeline } from "./sample.test_helper";
import { findStatistic } from "./statistic";
import { findTag, splitSentence } from "./verdict";

test("steps, statistics over whole steps, and the waiting with its range", () => {
  const pipeline = parseInputPipeline(samplePipeline());
  expect(pipeline.steps.labels).toEqual(["7", "8"]);
  expect(pipeline.stepTime).toEqual({
    average: 10_000,
    deviation: Number.NaN,
    median: 10_000,
    least: 10_000,
    most: 10_000,
    count: 1,
  });
  expect(pipeline.waitingShare).toMatchObject({ average: 40, least: 30, most: 50 });
  expect(pipeline.waiting[0]).toMatchObject({
    values: Float64Array.of(40, 50),
    low: Float64Array.of(30, 50),
    high: Float64Array.of(50, 50),
  });
});

test("without the server's figures the waiting is that of the steps", () => {
  const none = { waiting_percent: "", infeed_percent_minimum: "" };
  const { waitingShare } = parseInputPipeline(samplePipeline(none));
  expect(waitingShare).toMatchObject({ average: 40, least: 40, most: 50 });
});

test("the work on the host by category, and the table of ops in µs", () => {
  const { host, ops } = parseInputPipeline(samplePipeline());
  expect(host.parts.map(({ id, time }) => [id, time])).toEqual([
    ["demanded_file_read", 0],
    ["advanced_file_read", 0],
    ["preprocessing", 9000],
    ["enqueue", 1000],
    ["unclassified_nonequeue", 0],
  ]);
  expect(host).toMatchObject({ total: 10_000, programWaiting: 4000, slowestTime: 8000 });
  expect(numbers(ops, "workTimeInMs")).toEqual(Float64Array.of(8000, 1000));
  expect(numbers(ops, "selfTimeInPercent")).toEqual(Float64Array.of(0.8, 0.2));
});

test("advice, activities, markers, diagnostics", () => {
  const { advice, activities, markers, diagnostics } = parseInputPipeline(samplePipeline());
  expect(advice[0]).toMatchObject({ category: "preprocessing", share: 0.9, isDominant: true });
  expect(activities.map(({ isWaiting, total }) => [isWaiting, total])).toEqual([
    [false, 8000],
    [true, 4000],
  ]);
  expect(markers[0].isCurrent).toBe(true);
  expect(diagnostics).toEqual([{ severity: "WARNING", message: "m" }]);
});

test("cores by how often they waited longest; steps in which none waited are left out", () => {
  const { cores } = parseInputPipeline(samplePipeline());
  expect(cores).toEqual([
    { step: "7", core: "h:TPU:1" },
    { step: "8", core: "unknown" },
  ]);
  const more = [...cores, { step: "9", core: "b" }, { step: "10", core: "b" }];
  expect(rankCores(more)).toEqual([
    { core: "b", steps: ["9", "10"] },
    { core: "h:TPU:1", steps: ["7"] },
  ]);
});

test("empty tables and what is not a list", () => {
  const { steps, ops, host, waitingShare, cores } = parseInputPipeline([{}, {}, {}]);
  expect([steps.count, ops.length, host.total, cores.length]).toEqual([0, 0, 0, 0]);
  expect(waitingShare.average).toBeNaN();
  expect(() => parseInputPipeline({})).toThrow(/list/);
});

test("the tag says how sure the verdict is", () => {
  const tag = (properties: Record<string, string>) =>
    findTag(parseInputPipeline(samplePipeline(properties)))[1];
  expect(tag({})).toBe("Input-bound");
  expect(tag({ input_bottleneck: "both", waiting_percent: "11.4" })).toBe("Partly input-bound");
  const guess = { input_bottleneck: "both", input_is_guess: "true" };
  expect(tag({ ...guess, waiting_percent: "0.0" })).toBe("Potentially input-bound");
  const sent = { input_bottleneck: "both", waiting_percent: "11.4", input_cause: "transfer" };
  expect(tag(sent)).toBe("Sending data");
  expect(tag({ ...sent, input_is_guess: "true" })).toBe("Potentially input-bound");
  expect(tag({ input_bottleneck: "device" })).toBe("Not input-bound");
  expect(findTag(parseInputPipeline([{}, {}, {}]))[1]).toBe("No steps");
});

test("the first sentence of a verdict", () => {
  expect(splitSentence("It is slow: 4.5% waits. Shorten it.")).toEqual([
    "It is slow: 4.5% waits.",
    "Shorten it.",
  ]);
  expect(splitSentence("")[0]).toMatch(/No step time/);
});

test("a deviation is of a sample, and needs two", () => {
  const { average, deviation } = findStatistic(Float64Array.of(1, 3, 99), [false, false, true]);
  expect([average, deviation]).toEqual([2, Math.SQRT2]);
  expect(findStatistic(Float64Array.of(4), [true])).toMatchObject({ average: 4, count: 1 });
});
