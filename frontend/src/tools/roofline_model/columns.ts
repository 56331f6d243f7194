/** The columns of the table beneath the roofline. */
import { type DataTable, isMeasured, texts } from "../../api/data_table";
import type { ColumnSpec, Explanation } from "../../widgets/table/columns";
import type { Grouping } from "../../widgets/table/group";
import { PROGRAM } from "../programs/program_column";

const EVENTS =
  "Events of devices that name an instruction of a program; on a CPU those of threads.";
const HLO = "The compiled program in the trace.";
const WORK =
  "Counts that the device recorded, or that follow from the shapes in the program. Bytes that " +
  "caches serve are counted then.";
const PEAKS = `${WORK} Peaks: listed beside the chart, each with its source.`;
const TIME_UNIT = "µs, shown in the unit of the header";

function why(formula: string, unit: string, source: string): Explanation {
  return { formula, unit, source };
}

export function rooflineColumns(table: DataTable, per: "op" | "program"): ColumnSpec[] {
  const isOp = per === "op";
  const memory = table.properties.program_device === "CPU" ? "Memory" : "HBM";
  const isMany = (id: string) => new Set(texts(table, id)?.codes ?? []).size > 1;
  const has = (id: string) => texts(table, id)?.strings.some((value) => value !== "") ?? false;
  const text = (id: string, title: string, width: number, formula: string, isShown: boolean) =>
    ({
      id,
      title,
      width,
      isShown,
      group: { how: "same" },
      explanation: why(formula, "none", HLO),
    }) as const;
  const share = (id: string, title: string, formula: string, isShown: boolean) =>
    ({
      id,
      title,
      quantity: "ratio",
      width: 124,
      isShown: isShown && isMeasured(table, id),
      group: { how: "mean", weight: "span_time" },
      explanation: why(formula, "percent; above 100 % where caches serve bytes", PEAKS),
    }) as const;
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
  return [
    {
      id: "rank",
      title: "Rank",
      quantity: "rank",
      width: 56,
      isShown: true,
      isSticky: true,
      group: { how: "rank" },
      explanation: why("Rank by self time", "none", EVENTS),
    },
    {
      id: "operation",
      title: isOp ? "HLO op" : "Program",
      isName: true,
      width: 280,
      isShown: true,
      isSticky: true,
      group: { how: "label" },
      explanation: why(
        isOp ? "Name of the instruction in its program" : "Name of the program, and its id",
        "none",
        HLO,
      ),
    },
    text("category", "Category", 130, "What kind of instruction it is, as XLA names it", isOp),
    {
      ...text(PROGRAM, "Program", 150, "Name of the program, and its id", isOp && isMany(PROGRAM)),
      noun: "program",
    },
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
      quantity: "ratio",
      width: 76,
      isShown: true,
      group: { how: "sum" },
      explanation: why("Self ÷ time of the devices, idle time included", "percent", EVENTS),
    },
    {
      id: "occurrences",
      title: "Executions",
      quantity: "count",
      width: 96,
      isShown: false,
      group: { how: "sum" },
      explanation: why("Number of times it ran", "executions", EVENTS),
    },
    rate("measured_flop_rate", "FLOP rate", "GFLOP/s", "Operations ÷ time of the work", true),
    share(
      "compute_efficiency",
      "FLOP / peak",
      "FLOP rate ÷ peak of the type that it computes in",
      true,
    ),
    rate(
      "hbm_bw",
      `${memory} bandwidth`,
      "GiB/s",
      "Bytes in the main memory ÷ time of the work",
      true,
    ),
    share(
      "max_mem_bw_utilization",
      "Memory / peak",
      "Bandwidth ÷ peak, of the memory of which it uses the largest share",
      true,
    ),
    rate(
      "hbm_operational_intensity",
      "Intensity",
      "FLOP/B",
      "Operations ÷ bytes in the main memory",
      true,
    ),
    text("bound_by", "Bound by", 90, "What it uses the largest share of", true),
    share("roofline_efficiency", "Of the roof", "The largest of its shares of peaks", true),
    rate(
      "optimal_flop_rate",
      "Roof",
      "GFLOP/s",
      "The most that the device could compute at this intensity; none for what is above its roof",
      false,
    ),
    rate(
      "measured_memory_bw",
      "Bandwidth",
      "GiB/s",
      "Bytes in all memories ÷ time of the work",
      false,
    ),
    text("dtype", "Type", 64, "Element type that it mainly computes in", isOp),
    text("roof", "Peak of type", 104, "The peak that its operations are held against", false),
    text("cost_note", "Unknown cost", 180, "Why its operations are not known", has("cost_note")),
    text(
      "roof_note",
      "Above the roof",
      220,
      "Why it seems to do more than the device can",
      has("roof_note"),
    ),
    {
      ...text("source", "Source", 200, "File and line that it was compiled from", isOp),
      noun: "line",
    },
    {
      id: "span_time",
      title: "Time of the work",
      quantity: "time",
      width: 120,
      isShown: false,
      group: { how: "sum" },
      explanation: why(
        "Time over which the work was done: the total, or from start to done for what runs beside",
        TIME_UNIT,
        EVENTS,
      ),
    },
  ];
}

export const ROOFLINE_GROUPINGS: readonly Grouping[] = [
  by("category", "Category"),
  by(PROGRAM, "Program"),
  by("bound_by", "Bound by"),
  by("dtype", "Element type"),
  by("source", "Source line"),
];

function by(id: string, label: string): Grouping {
  return {
    id,
    label,
    keys: (columns) => {
      const data = columns.find((column) => column.id === id)?.data;
      return data?.kind === "text" ? data : undefined;
    },
  };
}
