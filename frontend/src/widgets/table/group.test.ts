import { expect, test } from "vitest";
import { texts } from "../../api/data_table";
import { groupRows } from "./group";
import { sampleColumns, sampleTable } from "./sample.test_helper";

const CELLS = {
  name: ["a", "b", "c", "d"],
  type: ["X", "Y", "X", ""],
  count: [1, 2, 3, 4],
  time: [10, 50, 30, null],
  avg: [10, 25, 10, null],
  share: [0.1, 0.5, 0.3, null],
  sofar: [0.1, 0.6, 0.9, null],
  low: [1, 2, 0.5, null],
  rate: [4, null, 8, 2],
  used: [true, false, false, true],
};
const COLUMNS = sampleColumns(CELLS, {
  name: { group: { how: "label" } },
  type: { group: { how: "same" } },
  count: { group: { how: "sum" } },
  time: { group: { how: "sum" } },
  avg: { group: { how: "quotient", of: "time", by: "count" } },
  share: { group: { how: "sum" } },
  sofar: { group: { how: "running", of: "share" } },
  low: { group: { how: "min" } },
  rate: { group: { how: "mean", weight: "time" } },
  used: { group: { how: "same" } },
});
const KEYS = texts(sampleTable(CELLS), "type")!;

test("groups sum, and are ranked by the sum", () => {
  const groups = groupRows(COLUMNS, Uint32Array.of(0, 1, 2, 3), KEYS, "time");
  const read = Object.fromEntries(
    groups.columns.map(({ id, data }) => [
      id,
      data.kind === "text"
        ? [...data.codes].map((code) => data.strings[code] ?? null)
        : [...data.values].map((value) => (Number.isNaN(value) ? null : value)),
    ]),
  );
  expect(read).toEqual({
    name: ["Y", "X", "(none)"],
    type: ["Y", "X", ""],
    count: [2, 4, 4],
    time: [50, 40, null],
    avg: [25, 10, null],
    share: [0.5, 0.4, null],
    sofar: [0.5, 0.9, 0.9],
    low: [2, 0.5, null],
    rate: [null, 7, null],
    used: [0, -1, 1],
  });
  expect(groups.members.map((rows) => [...rows])).toEqual([[1], [0, 2], [3]]);
});

test("only the rows that are asked for are in groups", () => {
  const groups = groupRows(COLUMNS, Uint32Array.of(2), KEYS, "time");
  expect(groups.length).toBe(1);
  expect([...groups.members[0]]).toEqual([2]);
});

test("no group mixes sections, which follow each other, each with its own running sum", () => {
  const cells = {
    type: ["Mul", "Mul", "Add", "Add", "Mul"],
    side: ["Device", "Device", "Device", "Host", "Host"],
    time: [1, 2, 4, 8, 16],
    sofar: [0, 0, 0, 0, 0],
  };
  const columns = sampleColumns(cells, {
    time: { group: { how: "sum" } },
    sofar: { group: { how: "running", of: "time" } },
  });
  const table = sampleTable(cells);
  const groups = groupRows(
    columns,
    Uint32Array.of(0, 1, 2, 3, 4),
    texts(table, "type")!,
    "time",
    texts(table, "side"),
  );
  expect(groups.members.map((rows) => [...rows])).toEqual([[2], [0, 1], [4], [3]]);
  const sofar = groups.columns.find(({ id }) => id === "sofar")!.data;
  expect(sofar.kind === "number" && [...sofar.values]).toEqual([4, 7, 16, 24]);
});
