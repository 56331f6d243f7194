/** The table of hlo_stats, with display names of programs. */
import { type DataTable, numbers, parseTable, textAt, texts } from "../../api/data_table";
import { type Microseconds, microseconds } from "../../base/units";
import { programColumn } from "../programs/program_column";

export interface HloStats {
  readonly table: DataTable;
  /** "GPU", "TPU" or "CPU". */
  readonly deviceType: string;
  /** The distinct names of all instructions. */
  readonly names: readonly string[];
  /** Self time of the devices' ops with unknown operations, and of all their ops. */
  readonly unknown: Microseconds;
  readonly total: Microseconds;
}

export function parseHloStats(json: unknown): HloStats {
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
    deviceType: table.properties.device_type ?? "",
    names: texts(table, "hlo_op_name")?.strings ?? [],
    unknown: microseconds(unknown),
    total: microseconds(total),
  };
}
