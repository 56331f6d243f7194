import { expect, test } from "vitest";
import { findColumn, parseTable, readRows, textAt, texts } from "./data_table";

const COLS = [
  { id: "n", label: "N", type: "string" },
  { id: "v", label: "", type: "number", pattern: "0.0%" },
  { id: "b", label: "B", type: "boolean" },
];
/** A row with all, and one with nothing. */
const COLUMNS = [
  ["a", null],
  [1, null],
  [true, null],
];

test("both layouts give the same table", () => {
  const columns = parseTable({
    cols: COLS,
    columns: COLUMNS,
  });
  const rows = parseTable({
    cols: COLS,
    rows: [
      { c: [{ v: "a" }, { v: 1 }, { v: true }] },
      { c: [{ v: null }, { v: null }, { v: null }] },
    ],
  });
  expect(rows).toEqual(columns);
  expect(columns.length).toBe(2);
  expect(findColumn(columns, "v")).toMatchObject({ label: "v", isRatio: true });
  expect(findColumn(columns, "b")).toMatchObject({ values: Int8Array.of(1, -1) });
  expect(textAt(texts(columns, "n"), 0)).toBe("a");
  expect(textAt(texts(columns, "n"), 1)).toBe("");
});

test.each([
  [null],
  [{}],
  [{ cols: [], rows: 3 }],
  [{ cols: COLS, columns: [["a"], [1]] }],
  [{ cols: COLS, columns: [["a"], [1, 2], [true]] }],
  [{ cols: [{}], columns: [[1]] }],
])("%j is not a table", (json) => {
  if (json && "rows" in json) expect(() => parseTable(json)).toThrow(/no rows/);
  else expect(() => parseTable(json)).toThrow();
});

test("rows by column; what is not there is empty", () => {
  const table = parseTable({
    cols: COLS,
    columns: COLUMNS,
  });
  const rows = readRows(table, (row) => [row.text("n"), row.number("v"), row.flag("b")]);
  expect(rows).toEqual([
    ["a", 1, true],
    ["", Number.NaN, false],
  ]);
  expect(readRows(table, (row) => [row.text("v"), row.number("x"), row.flag("n")])[0]).toEqual([
    "",
    Number.NaN,
    false,
  ]);
});
