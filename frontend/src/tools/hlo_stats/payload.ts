/** The table of hlo_stats, with display names of programs. */
import { numbers, parseTable, textAt, texts } from "../../api/data_table";
import { microseconds } from "../../base/units";
import { programColumn } from "../programs/program_column";

export type HloStats = Readonly<ReturnType<typeof parseHloStats>>;

export function parseHloStats(json: unknown) {
  const table = parseTable(json);
  const own = numbers(table, "total_self_time") ?? new Float64Array(0);
  const share = numbers(table, "total_self_time_percent") ?? new Float64Array(0);
  const notes = texts(table, "cost_note");
  let [unknown, total] = [0, 0];
  own.forEach((time, row) => {
    if (!(share[row] > 0)) return;
    total += time;
    if (textAt(notes, row) !== "") unknown += time;
  });
  return {
    table: { ...table, columns: [...table.columns, programColumn(table, "program_id")] },
    /** "GPU", "TPU" or "CPU". */
    deviceType: table.properties.device_type ?? "",
    /** The distinct names of all instructions. */
    names: texts(table, "hlo_op_name")?.strings ?? [],
    /** Self time of the devices' ops with unknown operations, and of all their ops. */
    unknown: microseconds(unknown),
    total: microseconds(total),
  };
}
