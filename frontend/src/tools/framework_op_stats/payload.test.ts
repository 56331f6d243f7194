import { expect, test } from "vitest";
import { numbers } from "../../api/data_table";
import { resolveColumns } from "../../widgets/table/columns";
import { tableJson } from "../../widgets/table/sample.test_helper";
import { callEvents } from "../links/trace_links";
import { opColumns } from "./columns";
import { OP_GROUPINGS } from "./groupings";
import { CUMULATIVE, parseOpStats, SHARE, sideRows } from "./payload";

const OLD = "Host_cumulative_total_self_time_percent";
const table = (ids: readonly string[]) =>
  tableJson({
    host_or_device: ["Host", "Device"],
    operation: ["a/b/MatMul", "Cast"],
    ...Object.fromEntries(ids.map((id) => [id, [0.5, 0]])),
  });

test("the cumulative share of the host is there once", () => {
  const both = parseOpStats([table([OLD, OLD.toLowerCase()]), table([OLD])]);
  expect(both.withIdle.columns.map(({ id }) => id)).toEqual([
    "host_or_device",
    "operation",
    OLD.toLowerCase(),
    SHARE,
    CUMULATIVE,
  ]);
  expect(both.withoutIdle.columns.map(({ id }) => id)).not.toContain(OLD);
});

test("a row has the shares of its own side", () => {
  const { withIdle } = parseOpStats([table(["host_total_self_time_percent"]), table([])]);
  expect(numbers(withIdle, SHARE)).toEqual(Float64Array.of(0.5, Number.NaN));
});

test("a table alone is not the payload", () => {
  expect(() => parseOpStats(table([]))).toThrow(/two tables/);
});

test("calls are there where the program made some", () => {
  const calls = tableJson({ operation: ["PjitFunction(step)"] });
  const none = { ...calls, columns: [[]] };
  const parsed = parseOpStats([table([]), table([]), calls]).calls;
  expect(parsed?.length).toBe(1);
  expect(callEvents(parsed!, 0)).toMatchObject({ q: "whole:PjitFunction(step)" });
  expect(parseOpStats([table([]), table([]), none]).calls).toBeNull();
  expect(parseOpStats([table([]), table([])]).calls).toBeNull();
});

test("rows belong to one side", () => {
  const { withIdle } = parseOpStats([table([]), table([])]);
  expect([0, 1].map(sideRows(withIdle, "Host")!)).toEqual([true, false]);
  expect(sideRows({ ...withIdle, columns: [] }, "Host")).toBeNull();
});

test("scopes group by their first parts", () => {
  const { withIdle } = parseOpStats([table([]), table([])]);
  const columns = resolveColumns(withIdle, opColumns(withIdle));
  const keys = OP_GROUPINGS.find(({ id }) => id === "scope1")!.keys(columns)!;
  expect([...keys.codes].map((code) => keys.strings[code])).toEqual(["a", ""]);
});

test.each([
  ["MatMul", true],
  ["dot_general", false],
  ["Dataset", false],
  ["MemcpyHToD", false],
])("a trace of ops of type %s is of TensorFlow: %s", (type, isTensorFlow) => {
  const ops = tableJson({ type: [type] });
  expect(parseOpStats([ops, ops]).isTensorFlow).toBe(isTensorFlow);
});
