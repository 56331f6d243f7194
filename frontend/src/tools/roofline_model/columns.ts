/** The columns and groupings of the table below the roofline. */
import { type DataTable, hasText } from "../../api/data_table";
import type { ColumnSpec } from "../../widgets/table/columns";
import type { Grouping } from "../../widgets/table/group";
import { groupBy, numberSpec } from "../../widgets/table/specs";
import {
  elementType,
  executions,
  named,
  ofEvents,
  PROGRAM_NAME,
  program,
  rank,
  rate,
  SELF_TIME,
  SPAN_TIME,
  shareOfPeak,
  source,
  text,
  WORK,
} from "../programs/instruction_columns";
import { PROGRAM } from "../programs/program_column";
import type { Per } from "./per";

const PEAKS = `${WORK} Peaks are listed beside the chart with their sources.`;

const NAMES = {
  op: named("operation", "HLO op", "Name of the instruction in its program"),
  program: named("operation", "Program", PROGRAM_NAME),
  step: named("operation", "Step", "Name of the step"),
};

export function rooflineColumns(table: DataTable, per: Per): ColumnSpec[] {
  const isOp = per === "op";
  return [
    rank(per === "step" ? "Position in time" : "Rank by self time"),
    NAMES[per],
    text("category", "Category", 130, "Kind of instruction in XLA's terms", isOp),
    program(table, isOp),
    SELF_TIME,
    {
      ...numberSpec("total_self_time_percent", "Share", "ratio", 76),
      explanation: ofEvents("Self ÷ time of the devices, idle time included", "percent"),
    },
    executions(false),
    ...rateColumns(table),
    elementType(isOp),
    text("roof", "Peak of type", 104, "The type whose peak its FLOP rate is compared with"),
    text(
      "cost_note",
      "Unknown cost",
      180,
      "Why its operations are unknown",
      hasText(table, "cost_note"),
    ),
    text(
      "roof_note",
      "Above the roof",
      220,
      "Why it appears to exceed the device's peaks",
      hasText(table, "roof_note"),
    ),
    source(isOp),
    SPAN_TIME,
  ];
}

function rateColumns(table: DataTable): ColumnSpec[] {
  const memory = table.properties.program_device === "CPU" ? "Memory" : "HBM";
  const share = (id: string, title: string, formula: string) =>
    shareOfPeak(table, id, title, 124, formula, PEAKS);
  return [
    rate("measured_flop_rate", "FLOP rate", "GFLOP/s", "Operations ÷ working time", true),
    share("compute_efficiency", "FLOP / peak", "FLOP rate ÷ peak of the type that it computes in"),
    rate("hbm_bw", `${memory} bandwidth`, "GiB/s", "Bytes in the main memory ÷ working time", true),
    share(
      "max_mem_bw_utilization",
      "Memory / peak",
      "Bandwidth ÷ peak, for the memory of which it uses the largest share",
    ),
    rate(
      "hbm_operational_intensity",
      "Intensity",
      "FLOP/B",
      "Operations ÷ bytes in the main memory",
      true,
    ),
    text("bound_by", "Bound by", 90, "The resource of which it uses the largest share", true),
    share("roofline_efficiency", "% of roof", "The largest of its shares of peaks"),
    rate(
      "optimal_flop_rate",
      "Roof",
      "GFLOP/s",
      "The highest FLOP rate that the device can reach at this intensity; empty for ops above their roof",
      false,
    ),
    rate("measured_memory_bw", "Bandwidth", "GiB/s", "Bytes in all memories ÷ working time", false),
  ];
}

export const ROOFLINE_GROUPINGS: readonly Grouping[] = [
  groupBy("category", "Category"),
  groupBy(PROGRAM, "Program"),
  groupBy("bound_by", "Bound by"),
  groupBy("dtype", "Element type"),
  groupBy("source", "Source line"),
];
