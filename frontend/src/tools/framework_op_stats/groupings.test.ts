import { expect, test } from "vitest";
import { sampleColumns } from "../../widgets/table/sample.test_helper";
import { defaultOpGrouping } from "./groupings";

interface Op {
  readonly name: string;
  readonly type: string;
  readonly side: string;
  readonly self: number;
}

const device = (name: string, type: string, self: number): Op => ({
  name,
  type,
  side: "Device",
  self,
});
const many = (count: number, name: (at: number) => string, type: string, self = 1) =>
  Array.from({ length: count }, (_, index) => device(name(index), type, self));

function usual(ops: readonly Op[], rows = ops.map((_, row) => row)) {
  const columns = sampleColumns({
    operation: ops.map(({ name }) => name),
    type: ops.map(({ type }) => type),
    host_or_device: ops.map(({ side }) => side),
    total_self_time: ops.map(({ self }) => self),
  });
  return defaultOpGrouping(columns, Uint32Array.from(rows));
}

test("rows that matter alone are not grouped", () => {
  expect(usual([device("a", "Add", 75), ...many(100, (at) => `b${at}x`, "Mul", 0.25)])).toBeNull();
});

test("replicas and layers are folded where single rows are too small", () => {
  expect(usual(many(400, (at) => `replica_${at % 4}/layer_${at >> 2}/mul`, "Mul"))).toBe("family");
});

test("where names have nothing in common, ops are grouped by type", () => {
  expect(usual(many(400, (at) => `op${at}x`, "Mul"))).toBe("type");
});

test("one side with small rows is enough, idle time does not count", () => {
  const host: Op = { name: "h", type: "Wait", side: "Host", self: 1000 };
  expect(usual([host, ...many(400, (at) => `layer_${at}/mul`, "Mul")])).toBe("family");
  const idle: Op = { name: "IDLE", type: "IDLE", side: "Device", self: 1e6 };
  expect(usual([idle, ...many(50, (at) => `op${at}x`, "Mul")])).toBeNull();
});

test("what filters leave decides", () => {
  const ops = many(400, (at) => `layer_${at}/mul`, "Mul");
  expect(usual(ops, [7])).toBeNull();
  expect(usual(ops, [])).toBeNull();
});
