/** The columns of the table of instructions. */
import { type DataTable, hasText, isMeasured } from "../../api/data_table";
import type { ColumnSpec } from "../../widgets/table/columns";
import { intensitySpec, numberSpec, TIME_UNIT } from "../../widgets/table/specs";
import {
  elementType,
  executions,
  named,
  ofEvents,
  ofProgram,
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

const PEAKS = `${WORK} The roofline page names the sources of the peaks.`;

/** By default, columns without values in `table` are hidden. */
export function hloColumns(table: DataTable): ColumnSpec[] {
  return [
    rank("Rank by self time; ops on SparseCores come last"),
    named("hlo_op_name", "HLO op", "Name of the instruction in its program"),
    text(
      "category",
      "Category",
      130,
      "Kind of instruction in XLA's terms; kernels and copies that do not belong to an " +
        "instruction are “not in HLO”",
      true,
    ),
    program(table),
    ...timeColumns(),
    ...rateColumns(table),
    ...textColumns(table),
  ];
}

function timeColumns(): ColumnSpec[] {
  return [
    SELF_TIME,
    {
      ...numberSpec("total_self_time_percent", "Share", "percent", 76),
      explanation: ofEvents(
        "Self ÷ time of the devices from the first op to the last, idle time included",
        "percent",
      ),
    },
    {
      ...numberSpec("cumulative_total_self_time_percent", "Cumulative", "percent", 96),
      isShown: false,
      group: { how: "running", of: "total_self_time_percent" },
      explanation: ofEvents("Sum of “Share” over this row and the rows above it", "percent"),
    },
    executions(true),
    {
      ...numberSpec("kernels", "Kernels", "count", 80),
      isShown: false,
      explanation: ofEvents("Number of kernels that it launched", "kernels"),
    },
    {
      ...numberSpec("avg_self_time", "Avg. self", "time", 84),
      group: { how: "quotient", of: "total_self_time", by: "occurrences" },
      explanation: ofEvents("Self ÷ executions", TIME_UNIT),
    },
    {
      ...numberSpec("total_time", "Total", "time", 88),
      isShown: false,
      explanation: ofEvents("Sum of its durations, including nested ops", TIME_UNIT),
    },
    {
      ...numberSpec("avg_time", "Avg.", "time", 80),
      isShown: false,
      group: { how: "quotient", of: "total_time", by: "occurrences" },
      explanation: ofEvents("Total ÷ executions", TIME_UNIT),
    },
    SPAN_TIME,
    {
      ...numberSpec("dma_stall_percent", "Stalled by DMA", "ratio", 116),
      isShown: false,
      group: { how: "mean", weight: "total_time" },
      explanation: ofEvents("Time waiting for transfers ÷ total", "percent"),
    },
  ];
}

function rateColumns(table: DataTable): ColumnSpec[] {
  const memory = table.properties.device_type === "CPU" ? "Memory" : "HBM";
  const share = (id: string, title: string, formula: string) =>
    shareOfPeak(table, id, title, 96, formula, PEAKS);
  return [
    rate(
      "normalized_flop_rate",
      "FLOP rate",
      "GFLOP/s",
      "Operations ÷ working time",
      isMeasured(table, "normalized_flop_rate"),
    ),
    rate(
      "model_flop_rate",
      "Model FLOP rate",
      "GFLOP/s",
      "Operations stated in the program ÷ working time; the operations that TPUs record are " +
        "scaled as if all types had the rate of 16-bit floats",
      false,
    ),
    share("flop_share", "FLOP / peak", "FLOP rate ÷ peak of the type that it computes in"),
    rate(
      "measured_memory_bw",
      "Bandwidth",
      "GiB/s",
      "Bytes read and written in all memories ÷ working time",
      isMeasured(table, "measured_memory_bw"),
    ),
    rate(
      "hbm_bw",
      `${memory} bandwidth`,
      "GiB/s",
      "Bytes in the main memory ÷ working time",
      false,
    ),
    rate("cmem_read_bw", "CMEM read", "GiB/s", "Bytes read from CMEM ÷ working time", false),
    rate("cmem_write_bw", "CMEM write", "GiB/s", "Bytes written to CMEM ÷ working time", false),
    share("hbm_share", `${memory} / peak`, "Bandwidth of the main memory ÷ its peak"),
    intensitySpec(WORK),
    {
      ...text("bound_by", "Bound by", 90, "", true),
      explanation: ofProgram(
        "The resource of which it uses the largest share: compute or a memory. Host link: a copy between device and host. Interconnect: communication between devices. Unknown if peaks or costs are unknown",
        "none",
        PEAKS,
      ),
    },
    share("efficiency", "% of roof", "The larger of “FLOP / peak” and the shares of memories"),
    {
      ...numberSpec("transcendentals", "Transcendentals", "count", 124),
      isShown: false,
      explanation: {
        formula:
          "Exponentials, logarithms, square roots and the like; not included in the operations",
        unit: "operations",
        source: WORK,
      },
    },
  ];
}

function textColumns(table: DataTable): ColumnSpec[] {
  return [
    {
      ...text(
        "cause",
        "Why slow",
        120,
        "The cause that slows it down, as in the findings of the overview; empty if the trace " +
          "does not prove a cause",
        hasText(table, "cause"),
      ),
      noun: "cause",
    },
    {
      ...numberSpec("could_save", "Could save", "time", 96),
      isShown: hasText(table, "cause"),
      explanation: {
        formula: "The part of its self time that could be saved at most",
        unit: TIME_UNIT,
        source: PEAKS,
      },
    },
    text(
      "cost_note",
      "Unknown cost",
      180,
      "Why the cost of the instruction is unknown; empty if it is known",
      hasText(table, "cost_note"),
    ),
    text(
      "roof_note",
      "Above the roof",
      180,
      "Why it appears to exceed the device's peaks; empty if it does not",
      hasText(table, "roof_note"),
    ),
    {
      ...text("tf_op_name", "Framework op", 280, "Name of the op that it was compiled from", true),
      isName: true,
      noun: "op",
    },
    source(true),
    elementType(true),
    text("opcode", "Opcode", 120, "Opcode of the instruction"),
    text(
      "replica_groups",
      "Replica groups",
      140,
      "Collectives: the devices that exchange data with each other",
      hasText(table, "replica_groups"),
    ),
    text(
      "hlo_op_expression",
      "HLO text",
      320,
      "Text of the instruction; long shapes are truncated",
    ),
    text("program_id", "Program id", 120, "Id of the program"),
    text("core_type", "Core", 90, "TensorCore or SparseCore, on TPUs"),
    text("hlo_rematerialization", "Remat.", 80, "Whether it recomputes a value to save memory"),
    text("outside_compilation", "Outside", 80, "Whether it exchanges data with host ops"),
  ];
}
