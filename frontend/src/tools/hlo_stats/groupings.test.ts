import { expect, test } from "vitest";
import { resolveColumns } from "../../widgets/table/columns";
import { tableJson } from "../../widgets/table/sample.test_helper";
import { hloColumns } from "./columns";
import { HLO_GROUPINGS } from "./groupings";
import { parseHloStats } from "./payload";

const TABLE = tableJson(
  {
    hlo_op_name: ["dot", "add", "copy", "gather"],
    program_id: ["7", "9", "", "9"],
    program: ["jit_f", "jit_f", "", ""],
    tf_op_name: ["jit(f)/layer/dot:", "jit(f)/layer/add:", "", "jit(f)/head/x:"],
    replica_groups: ["", "{{0,1}}", "", "{{0,1}}"],
    cost_note: ["", "nobody knows", "", "nobody knows"],
    total_self_time: [6, 2, 1, 5],
    total_self_time_percent: [60, 20, 10, 0],
  },
  { device_type: "TPU" },
);

test("programs of one name are told apart, and time of unknown cost is that of devices", () => {
  const { table, unknown, total, names } = parseHloStats(TABLE);
  const programs = table.columns.find(({ id }) => id === "program_label");
  expect(
    programs?.kind === "text" && [...programs.codes].map((code) => programs.strings[code]),
  ).toEqual(["jit_f(7)", "jit_f(9)", "", "main(9)"]);
  // What ran beside the device has no share of its time.
  expect([unknown, total]).toEqual([2, 9]);
  expect(names).toHaveLength(4);
});

test("every grouping has a key for every row", () => {
  const { table } = parseHloStats(TABLE);
  const columns = resolveColumns(table, hloColumns(table));
  const keys = Object.fromEntries(
    HLO_GROUPINGS.map(({ id, keys }) => {
      const column = keys(columns);
      return [id, column && [...column.codes].map((code) => column.strings[code])];
    }),
  );
  expect(keys.scope2).toEqual(["jit(f)/layer", "jit(f)/layer", "", "jit(f)/head"]);
  expect(keys.replica_groups).toEqual(["", "{{0,1}}", "", "{{0,1}}"]);
});
