import { expect, test } from "vitest";
import { findColumn, textAt, texts } from "../../api/data_table";
import { PayloadError } from "../../api/errors";
import { inUse, parseMemory } from "./payload";
import { GIB, sampleMemory } from "./sample.test_helper";

test("what was not recorded is not a number, and never zero", () => {
  const { allocators, timeline } = parseMemory(sampleMemory());
  expect(allocators[2].capacity).toBeNaN();
  expect(timeline.fragmentation[3]).toBeNaN();
  expect(timeline.requested[5]).toBeNaN();
  expect(timeline.requested[3]).toBe(-GIB);
  expect(inUse(timeline, 2)).toBe(4 * GIB);
});

test("amounts of -1 were not recorded; sizes of deallocations are negative", () => {
  const sample = sampleMemory();
  const lines = sample.timeline as Record<string, unknown>;
  const { timeline } = parseMemory({
    ...sample,
    timeline: { ...lines, heap_bytes: [-1, -1, -1, -1, -1, -1, 1], stack_bytes: null },
  });
  expect(inUse(timeline, 0)).toBeNaN();
  expect(inUse(timeline, 6)).toBe(1);
});

test("rows of the breakdown name their texts by index or as they are", () => {
  const { table } = parseMemory(sampleMemory()).breakdown;
  const cell = (id: string, row: number) => textAt(texts(table, id), row);
  expect([0, 1, 2].map((row) => cell("op", row))).toEqual([
    "dense/Relu",
    "dense/MatMul",
    "allocated before the recording began",
  ]);
  expect([0, 1, 2].map((row) => cell("age", row))).toEqual([
    "this step",
    "an earlier step",
    "before the recording",
  ]);
  expect(cell("shape", 2)).toBe("");
  expect(findColumn(table, "since_ps")).toMatchObject({
    values: Float64Array.of(2000, 1000, Number.NaN),
  });
  // How many allocations there were before is not known.
  expect(findColumn(table, "occurrences")).toMatchObject({
    values: Float64Array.of(2, 1, Number.NaN),
  });
});

test.each([
  ["nothing", null],
  ["another tool's answer", { cols: [] }],
  ["a choice that is not there", sampleMemory({ chosen: 9 })],
  [
    "columns of different lengths",
    sampleMemory({ timeline: { time_ps: [1], is_allocation: [], heap_bytes: [] } }),
  ],
])("%s is refused", (_, json) => {
  expect(() => parseMemory(json)).toThrow(PayloadError);
});

test("without memory events there is nothing to choose", () => {
  const memory = parseMemory({ memory_ids: [], chosen: 0, hosts: [] });
  expect(memory.allocators).toEqual([]);
  expect(memory.timeline.length).toBe(0);
});
