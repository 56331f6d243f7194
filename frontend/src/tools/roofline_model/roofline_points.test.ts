import { expect, test } from "vitest";
import { parseRoofline } from "./payload";
import { findPoints, findRoofs, usedRoof } from "./roofline_points";
import { summarize } from "./summary";

const HEADS = [
  ["rank", "number"],
  ["operation", "string"],
  ["category", "string"],
  ["hlo_module_id", "string"],
  ["program", "string"],
  ["total_self_time", "number"],
  ["total_self_time_percent", "number"],
  ["measured_flop_rate", "number"],
  ["hbm_bw", "number"],
  ["operational_intensity", "number"],
  ["hbm_operational_intensity", "number"],
  ["compute_efficiency", "number"],
  ["max_mem_bw_utilization", "number"],
  ["bound_by", "string"],
  ["roof", "string"],
  ["cost_note", "string"],
] as const;
const ROWS: readonly (readonly (string | number | null)[])[] = [
  [0, "Program", "Program", "0", "", null, null, 20, 10, 2, 2, 0.2, 0.25, "HBM", "", ""],
  [1, "dot", "dot", "7", "jit_f", 50, 0.5, 40, 5, 8, 8, 0.4, 0.1, "Compute", "f16", ""],
  [2, "add", "loop fusion", "7", "jit_f", 20, 0.2, 1, 8, 0.1, null, 0.1, 0.8, "HBM", "f32", ""],
  [
    3,
    "call",
    "custom-call",
    "7",
    "jit_f",
    15,
    0.15,
    null,
    null,
    null,
    null,
    null,
    null,
    "Unknown",
    "f16",
    "nobody knows",
  ],
  [4, "copy", "copy", "8", "", 10, 0.1, 0, 9, 0, 0, 0, 0.9, "HBM", "f32", ""],
  [5, "sum", "reduce", "8", "", 5, 0.05, 2, 0, null, null, 0.2, 0, "Compute", "f32", ""],
];
const JSON_TABLES = [
  {
    cols: HEADS.map(([id, type]) => ({ id, label: id, type })),
    columns: HEADS.map((_, index) => ROWS.map((row) => row[index])),
    p: { device_type: "X", program_device: "GPU", feed_ops: "0" },
  },
  {
    cols: [
      { id: "severity", label: "", type: "string" },
      { id: "message", label: "", type: "string" },
    ],
    columns: [["WARNING"], ["no steps"]],
  },
  {
    cols: [
      { id: "kind", label: "", type: "string" },
      { id: "name", label: "", type: "string" },
      { id: "peak", label: "", type: "number" },
      { id: "source", label: "", type: "string" },
    ],
    columns: [
      ["compute", "compute", "compute", "memory"],
      ["f16", "f8", "s8", "HBM"],
      [100, 200, 200, 12.5],
      ["a", "b", "c", "d"],
    ],
  },
];
const payload = parseRoofline(JSON_TABLES);
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
