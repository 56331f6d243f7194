import { expect, test } from "vitest";
import { sampleColumns } from "./sample.test_helper";
import { clickSort, formatSort, parseSort, sortRows } from "./sort";

const COLUMNS = sampleColumns({
  name: ["b", "A", "c", "a", null],
  time: [3, 1, null, 3, 2],
});
const ALL = Uint32Array.of(0, 1, 2, 3, 4);

test("what was not measured comes last in either direction", () => {
  expect([...sortRows(ALL, COLUMNS, parseSort("time"))]).toEqual([1, 4, 0, 3, 2]);
  expect([...sortRows(ALL, COLUMNS, parseSort("-time"))]).toEqual([0, 3, 4, 1, 2]);
  expect([...sortRows(ALL, COLUMNS, parseSort("-name"))]).toEqual([2, 0, 1, 3, 4]);
});

test("a second key orders the ties of the first", () => {
  expect([...sortRows(ALL, COLUMNS, parseSort("-time,name"))]).toEqual([3, 0, 4, 1, 2]);
});

test("unknown keys are skipped", () => {
  expect([...sortRows(ALL, COLUMNS, parseSort("-nothing,,-"))]).toEqual([0, 1, 2, 3, 4]);
});

test("clicks turn a key on, round and off; with shift they add one", () => {
  const [name, time] = COLUMNS;
  const byTime = clickSort([], time, false);
  expect(formatSort(byTime)).toBe("-time");
  expect(formatSort(clickSort(byTime, time, false))).toBe("time");
  expect(formatSort(clickSort(parseSort("time"), time, false))).toBe("");
  const byTimeAndName = clickSort(byTime, name, true);
  expect(formatSort(byTimeAndName)).toBe("-time,name");
  expect(formatSort(clickSort(byTimeAndName, time, true))).toBe("time,name");
  expect(formatSort(clickSort(byTimeAndName, name, false))).toBe("-name");
});
