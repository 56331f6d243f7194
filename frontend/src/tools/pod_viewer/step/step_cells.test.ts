import { expect, test } from "vitest";
import {
  arrangeColumns,
  columnAt,
  columnNames,
  hostLabel,
  planColumns,
  planTicks,
} from "../columns/column_plan";
import { parsePod } from "../payload";
import { samplePod } from "../sample.test_helper";
import { largestAt, median, ownTimes, parseStepCells, roundedCells } from "./step_cells";
import { stepPlace, workerPlace } from "./step_place";

const pod = parsePod(samplePod());

test("a step of the overview: the workers that have it, times from shares", () => {
  const cells = roundedCells(pod, 0);
  expect([...cells.worker]).toEqual([0, 1, 2]);
  expect(cells.phases.map((values) => [...values].map(Math.round))).toEqual([
    [60, 60, 60],
    [30, 30, 10],
    [10, 10, 30],
  ]);
  expect([...cells.bottleneck]).toEqual([0, 0, 0]);
  expect(cells.isExact).toBe(false);
});

test("a step exactly", () => {
  const cells = parseStepCells(
    {
      step: 1,
      worker: [0, 3],
      start_ms: [1.5, 650],
      total_us: [110.25, 110.5],
      own_us: [100, 100],
      event_us: { "1": [66, 20], "2": [0, 0], "3": [33, 30], "6": [11.25, 60.5] },
      bottleneck: [1, 6],
      is_truncated: [false, true],
    },
    pod,
    1,
  );
  expect([...cells.total]).toEqual([110.25, 110.5]);
  expect([...cells.bottleneck]).toEqual([0, 2]);
  expect(cells.isTruncated).toEqual([false, true]);
  // Each worker's step is where that worker ran it; the step is where its slowest worker did.
  const own = {
    view: { step: "train 4", from_ms: "1.5", to_ms: "1.61025" },
    hosts: ["pod-w-0.eu"],
  };
  const last = {
    view: { step: "train 4", from_ms: "650", to_ms: "650.1105" },
    hosts: ["pod-w-1.eu"],
  };
  expect(workerPlace(pod, cells, 0)).toEqual(own);
  expect(stepPlace(pod, cells)).toEqual(last);
  // Until it is known when, the label says which.
  expect(workerPlace(pod, roundedCells(pod, 1), 0).view).toEqual({ step: "train 4" });
  expect(() => parseStepCells({ step: 0, event_us: {} }, pod, 1)).toThrow(/requested step/);
});

test("whoever waits least in collectives is the latest", () => {
  const cells = roundedCells(pod, 0);
  const own = ownTimes(pod, cells);
  expect([...own].map(Math.round)).toEqual([70, 70, 90]);
  expect(largestAt(own)).toBe(2);
  expect(median(own)).toBeCloseTo(70, 4);
  expect(largestAt(new Float64Array(0))).toBe(-1);
});

test("SparseCores are not compared with TensorCores, and come last", () => {
  const kind = ["TPU", "SparseCore", "TPU", "SparseCore"];
  const workers = { ...(samplePod().workers as object), kind };
  const mixed = parsePod(samplePod({ workers }));
  const cells = roundedCells(mixed, 1);
  const own = ownTimes(mixed, cells);
  expect([...own].map(Number.isNaN)).toEqual([false, true, false, true]);
  expect(largestAt(own)).toBe(2);
  expect(median(own)).toBe(own[0]);
  const order = arrangeColumns(mixed, cells, { isByHost: false, isLatestFirst: true });
  expect([...order]).toEqual([2, 0, 1, 3]);
  const alone = parsePod(samplePod({ workers: { ...workers, kind: Array(4).fill("SparseCore") } }));
  expect(alone.workers.isAside).toEqual([false, false, false, false]);
});

test("columns: in order, latest first, one per host", () => {
  const cells = roundedCells(pod, 1);
  const order = (isByHost: boolean, isLatestFirst: boolean) => [
    ...arrangeColumns(pod, cells, { isByHost, isLatestFirst }),
  ];
  expect(order(false, false)).toEqual([0, 1, 2, 3]);
  expect(order(false, true)).toEqual([2, 0, 1, 3]);
  expect(order(true, false)).toEqual([0, 2]);
  expect(order(true, true)).toEqual([2, 0]);
});

test("few columns are not fat, many scroll", () => {
  expect(planColumns(2, 800)).toMatchObject({ pitch: 400, width: 160, total: 800 });
  expect(planColumns(40, 800)).toMatchObject({ pitch: 20, total: 800 });
  expect(planColumns(4096, 800)).toMatchObject({ pitch: 12, total: 49_152 });
  expect(columnAt(planColumns(40, 800), 40, 799)).toBe(39);
  expect(columnAt(planColumns(40, 800), 40, 801)).toBe(-1);
});

test("ticks are round in the written unit", () => {
  const { top, increment } = planTicks(93_400, 1e-3, 6);
  expect(increment).toBe(20_000);
  expect(top).toBeCloseTo(98_070);
  expect(planTicks(0, 1, 6).top).toBe(1);
});

test("columns are named as far as names fit, and all the way along", () => {
  const widthOf = (text: string) => 6 * text.length;
  const names = Array.from({ length: 64 }, (_, index) => `TPU:${index}`);
  expect(columnNames(names, 40, widthOf)).toEqual({ texts: names, every: 1 });
  const few = columnNames(names, 12, widthOf);
  expect(few.every).toBe(2);
  expect(few.texts.slice(8, 11)).toEqual(["8", "9", "10"]);
  expect(columnNames(["CPU"], 2, widthOf)).toEqual({ texts: ["CPU"], every: 12 });
  expect(columnNames([], 12, widthOf).texts).toEqual([]);
});

test("a host whose name does not fit is labeled by its number, if all numbers differ", () => {
  const few = (name: string) => name.length <= 4;
  expect(hostLabel(["worker-0000", "worker-0010"], 1, few)).toBe("0010");
  expect(hostLabel(["w-0", "w-10"], 1, few)).toBe("w-10");
  // The numbers of these are equal, so they cannot tell the hosts apart.
  expect(hostLabel(["east-w-0", "west-w-0"], 1, few)).toBe("west-w-0");
  expect(hostLabel(["alpha.eu", "beta.eu"], 1, few)).toBe("beta.eu");
});
