/** The columns of the table of instructions. */
import { type DataTable, isMeasured, texts } from "../../api/data_table";
import type { ColumnSpec, Explanation } from "../../widgets/table/columns";
import { PROGRAM } from "../programs/program_column";

const EVENTS =
  "Events of devices that name an instruction of a program; on a CPU those of threads.";
const HLO = "The compiled program in the trace, or the event's own description of the instruction.";
const WORK =
  "Counts that the device recorded, or that follow from the shapes in the program. Bytes that " +
  "caches serve are counted then.";
const PEAKS = `${WORK} Peaks: see the roofline page, which names their sources.`;

function why(formula: string, unit: string, source: string): Explanation {
  return { formula, unit, source };
}

const TIME_UNIT = "µs, shown in the unit of the header";

/** Usual columns are those that `table` has something in. */
export function hloColumns(table: DataTable): ColumnSpec[] {
  const isMany = (id: string) => new Set(texts(table, id)?.codes ?? []).size > 1;
  return [
    {
      id: "rank",
      title: "Rank",
      quantity: "rank",
      width: 56,
      isShown: true,
      isSticky: true,
      group: { how: "rank" },
      explanation: why("Rank by self time; what ran on SparseCores comes last", "none", EVENTS),
    },
    {
      id: "hlo_op_name",
      title: "HLO op",
      isName: true,
      width: 280,
      isShown: true,
      isSticky: true,
      group: { how: "label" },
      explanation: why("Name of the instruction in its program", "none", HLO),
    },
    {
      id: "category",
      title: "Category",
      width: 130,
      isShown: true,
      group: { how: "same" },
      explanation: why(
        "What kind of instruction it is, as XLA names it; kernels and copies that belong to no " +
          "instruction are “not in HLO”",
        "none",
        HLO,
      ),
    },
    {
      id: PROGRAM,
      title: "Program",
      width: 150,
      isShown: isMany(PROGRAM),
      group: { how: "same" },
      noun: "program",
      explanation: why("Name of the program, and its id", "none", HLO),
    },
    ...timeColumns(),
    ...rateColumns(table),
    ...textColumns(table),
  ];
}

function timeColumns(): ColumnSpec[] {
  return [
    {
      id: "total_self_time",
      title: "Self",
      quantity: "time",
      width: 92,
      isShown: true,
      hasBar: true,
      group: { how: "sum" },
      explanation: why("Total minus the time in the ops within it", TIME_UNIT, EVENTS),
    },
    {
      id: "total_self_time_percent",
      title: "Share",
      quantity: "percent",
      width: 76,
      isShown: true,
      group: { how: "sum" },
      explanation: why(
        "Self ÷ time of the devices from the first op to the last, idle time included",
        "percent",
        EVENTS,
      ),
    },
    {
      id: "cumulative_total_self_time_percent",
      title: "Cumulative",
      quantity: "percent",
      width: 96,
      isShown: false,
      group: { how: "running", of: "total_self_time_percent" },
      explanation: why("Sum of “Share” over this row and those above", "percent", EVENTS),
    },
    {
      id: "occurrences",
      title: "Executions",
      quantity: "count",
      width: 96,
      isShown: true,
      group: { how: "sum" },
      explanation: why("Number of times the instruction ran", "executions", EVENTS),
    },
    {
      id: "kernels",
      title: "Kernels",
      quantity: "count",
      width: 80,
      isShown: false,
      group: { how: "sum" },
      explanation: why("Number of kernels that ran for it", "kernels", EVENTS),
    },
    {
      id: "avg_self_time",
      title: "Avg. self",
      quantity: "time",
      width: 84,
      isShown: true,
      group: { how: "quotient", of: "total_self_time", by: "occurrences" },
      explanation: why("Self ÷ executions", TIME_UNIT, EVENTS),
    },
    {
      id: "total_time",
      title: "Total",
      quantity: "time",
      width: 88,
      isShown: false,
      group: { how: "sum" },
      explanation: why("Sum of its durations, with the ops within it", TIME_UNIT, EVENTS),
    },
    {
      id: "avg_time",
      title: "Avg.",
      quantity: "time",
      width: 80,
      isShown: false,
      group: { how: "quotient", of: "total_time", by: "occurrences" },
      explanation: why("Total ÷ executions", TIME_UNIT, EVENTS),
    },
    {
      id: "span_time",
      title: "Time of the work",
      quantity: "time",
      width: 120,
      isShown: false,
      group: { how: "sum" },
      explanation: why(
        "Time over which the work was done, of which rates are: the total, or from start to done " +
          "for copies and exchanges that run beside other ops",
        TIME_UNIT,
        EVENTS,
      ),
    },
    {
      id: "dma_stall_percent",
      title: "Stalled by DMA",
      quantity: "ratio",
      width: 116,
      isShown: false,
      group: { how: "mean", weight: "total_time" },
      explanation: why("Time in which it waited for transfers ÷ total", "percent", EVENTS),
    },
  ];
}

function rateColumns(table: DataTable): ColumnSpec[] {
  const memory = table.properties.device_type === "CPU" ? "Memory" : "HBM";
  const rate = (id: string, title: string, unit: string, formula: string, isShown: boolean) =>
    ({
      id,
      title,
      quantity: "number",
      unit,
      width: title.length > 10 ? 140 : 96,
      isShown,
      group: { how: "mean", weight: "span_time" },
      explanation: why(formula, unit, WORK),
    }) as const;
  const share = (id: string, title: string, formula: string) =>
    ({
      id,
      title,
      quantity: "ratio",
      width: 96,
      isShown: isMeasured(table, id),
      group: { how: "mean", weight: "span_time" },
      explanation: why(formula, "percent; above 100 % where caches serve bytes", PEAKS),
    }) as const;
  return [
    rate(
      "normalized_flop_rate",
      "FLOP rate",
      "GFLOP/s",
      "Operations ÷ time of the work",
      isMeasured(table, "normalized_flop_rate"),
    ),
    rate(
      "model_flop_rate",
      "Model FLOP rate",
      "GFLOP/s",
      "Operations as the program states them ÷ time of the work; TPUs record others as if all " +
        "types had the rate of 16-bit floats",
      false,
    ),
    share("flop_share", "FLOP / peak", "FLOP rate ÷ peak of the type that it computes in"),
    rate(
      "measured_memory_bw",
      "Bandwidth",
      "GiB/s",
      "Bytes read and written in all memories ÷ time of the work",
      isMeasured(table, "measured_memory_bw"),
    ),
    rate(
      "hbm_bw",
      `${memory} bandwidth`,
      "GiB/s",
      "Bytes in the main memory ÷ time of the work",
      false,
    ),
    rate("cmem_read_bw", "CMEM read", "GiB/s", "Bytes read from CMEM ÷ time of the work", false),
    rate("cmem_write_bw", "CMEM write", "GiB/s", "Bytes written to CMEM ÷ time of the work", false),
    share("hbm_share", `${memory} / peak`, "Bandwidth of the main memory ÷ its peak"),
    {
      id: "operational_intensity",
      title: "Intensity",
      quantity: "number",
      unit: "FLOP/B",
      width: 84,
      isShown: false,
      group: { how: "none" },
      explanation: why("Operations ÷ bytes read and written", "operations per byte", WORK),
    },
    {
      id: "bound_by",
      title: "Bound by",
      width: 90,
      isShown: true,
      group: { how: "same" },
      explanation: why(
        "What it uses the largest share of: compute, or a memory. Unknown without peaks or costs",
        "none",
        PEAKS,
      ),
    },
    share("efficiency", "Of the roof", "The larger of “FLOP / peak” and the shares of memories"),
    {
      id: "transcendentals",
      title: "Transcendentals",
      quantity: "count",
      width: 124,
      isShown: false,
      group: { how: "sum" },
      explanation: why(
        "Exponentials, logarithms, square roots and the like; they are not among the operations",
        "operations",
        WORK,
      ),
    },
  ];
}

function textColumns(table: DataTable): ColumnSpec[] {
  const text = (id: string, title: string, width: number, formula: string, isShown = false) =>
    ({
      id,
      title,
      width,
      isShown,
      group: { how: "same" },
      explanation: why(formula, "none", HLO),
    }) as const;
  const has = (id: string) => texts(table, id)?.strings.some((value) => value !== "") ?? false;
  return [
    text(
      "cost_note",
      "Unknown cost",
      180,
      "Why it is not known what the instruction computes; empty where it is known",
      has("cost_note"),
    ),
    text(
      "roof_note",
      "Above the roof",
      180,
      "Why it seems to do more than the device can; empty where it does not",
    ),
    {
      ...text("tf_op_name", "Framework op", 280, "Name of the op that it was compiled from", true),
      isName: true,
      noun: "op",
    },
    {
      ...text("source", "Source", 200, "File and line that it was compiled from", true),
      noun: "line",
    },
    text("dtype", "Type", 64, "Element type that it mainly computes in", true),
    text("opcode", "Opcode", 120, "Opcode of the instruction"),
    text(
      "replica_groups",
      "Replica groups",
      140,
      "Devices that exchange data with each other, for collectives",
      has("replica_groups"),
    ),
    text("hlo_op_expression", "HLO text", 320, "The instruction in short: long shapes are cut"),
    text("program_id", "Program id", 120, "Id of the program"),
    text("core_type", "Core", 90, "TensorCore or SparseCore, on TPUs"),
    text("hlo_rematerialization", "Remat.", 80, "Whether it recomputes something to save memory"),
    text("outside_compilation", "Outside", 80, "Whether it exchanges data with ops of the host"),
  ];
}
