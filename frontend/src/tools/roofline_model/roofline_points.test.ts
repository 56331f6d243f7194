import { expect, test } from "vitest";
import type { Cell } from "../../base/csv";
import { rowsJson } from "../../widgets/table/sample.test_helper";
import { parseRoofline } from "./payload";
import { findPoints, findRoofs, usedRoof } from "./roofline_points";
import { summarize } from "./summary";

const IDS =
  "rank operation category hlo_module_id program total_self_time total_self_time_percent measured_flop_rate hbm_bw operational_intensity hbm_operational_intensity compute_efficiency max_mem_bw_utilization bound_by roof cost_note";
const X = null;
const ROWS: readonly (readonly Cell[])[] = [
  [0, "Program", "Program", "0", "", null, null, 20, 10, 2, 2, 0.2, 0.25, "HBM", "", ""],
  [1, "dot", "dot", "7", "jit_f", 50, 0.5, 40, 5, 8, 8, 0.4, 0.1, "Compute", "f16", ""],
  [2, "add", "loop fusion", "7", "jit_f", 20, 0.2, 1, 8, 0.1, null, 0.1, 0.8, "HBM", "f32", ""],
  [3, "call", "custom-call", "7", "jit_f", 15, 0.15, X, X, X, X, X, X, "Unknown", "f16", "why"],
  [4, "copy", "copy", "8", "", 10, 0.1, 0, 9, 0, 0, 0, 0.9, "HBM", "f32", ""],
  [5, "sum", "reduce", "8", "", 5, 0.05, 2, 0, null, null, 0.2, 0, "Compute", "f32", ""],
];
const payload = parseRoofline([
  rowsJson(IDS, ROWS, { device_type: "X", program_device: "GPU", feed_ops: "0" }),
  rowsJson("severity message", [["WARNING", "no steps"]]),
  rowsJson("kind name peak source", [
    ["compute", "f16", 100, "a"],
    ["compute", "f8", 200, "b"],
    ["compute", "s8", 200, "c"],
    ["memory", "HBM", 12.5, "d"],
  ]),
]);
const all = Uint32Array.from({ length: 5 }, (_, row) => row);

test("the row of all programs is not a row of the table", () => {
  expect(payload.table.length).toBe(5);
  expect(payload.names).toContain("dot");
  expect(payload.whole.number("measured_flop_rate")).toBe(20);
  expect(payload.hasFeeds).toBe(false);
});

test("a point is an op with operations and bytes; others are listed with their time", () => {
  const plotted = findPoints(payload.table, all, "category");
  expect([...plotted.rowOf]).toEqual([0, 1]);
  // Of all bytes where nothing is known of the main memory.
  expect([...plotted.points.x]).toEqual([8, 0.1]);
  expect([...plotted.points.y]).toEqual([40e9, 1e9]);
  expect([...plotted.pointOf]).toEqual([0, 1, -1, -1, -1]);
  expect(plotted.kinds.map(({ label }) => label)).toEqual(["dot", "loop fusion"]);
  expect(plotted.absent.map(({ reason, rows, share }) => [reason, [...rows], share])).toEqual([
    ["unknown", [2], 0.15],
    ["still", [3], 0.1],
    ["elsewhere", [4], 0.05],
  ]);
});

test("only rows that the table shows are points", () => {
  const plotted = findPoints(payload.table, Uint32Array.of(1), "bound_by");
  expect([...plotted.rowOf]).toEqual([1]);
  expect(plotted.kinds.map(({ label }) => label)).toEqual(["HBM"]);
  expect(plotted.absent).toEqual([]);
});

test("equal peaks are one line, and the type of most time is drawn as a whole line", () => {
  expect(usedRoof(payload.table)).toBe("f16");
  expect(findRoofs(payload.peaks, "f16")).toEqual([
    { label: "HBM 12.5 GB/s", bounds: "slope", value: 12.5e9, isMain: true },
    { label: "f16 100 GFLOP/s", bounds: "level", value: 100e9, isMain: true },
    { label: "f8, s8 200 GFLOP/s", bounds: "level", value: 200e9, isMain: false },
  ]);
  expect(findRoofs([], "")).toEqual([]);
});

test("sentences say the share of the peaks, and what bounds most of the time", () => {
  expect(summarize(payload.table, payload.whole, true, "ops")).toEqual([
    "On average, a device computes 20.0 GFLOP/s and moves 10.7 GB/s, including idle time: " +
      "20.0 % of its compute peak, and 25.0 % of its peak memory bandwidth.",
    "Of the ops’ time, 55.0 % is bound by compute, 30.0 % by HBM.",
    "For 15.0 % of it the bound is unknown, since the cost of those ops is zero or unknown.",
  ]);
  expect(summarize(payload.table, payload.whole, false, "ops")[1]).toMatch(
    /does not contain the peaks/,
  );
});
