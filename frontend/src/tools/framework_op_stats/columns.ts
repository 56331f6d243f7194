/** The columns of the op table. */
import { type DataTable, hasText, isMeasured } from "../../api/data_table";
import type { ColumnSpec } from "../../widgets/table/columns";
import {
  explaining,
  intensitySpec,
  nameSpec,
  rankSpec,
  TIME_UNIT,
  textSpec,
} from "../../widgets/table/specs";
import { CUMULATIVE, SHARE, sideRows } from "./payload";

const TRACE =
  "Events with the op's name: on host threads for Host rows, on device streams for Device rows.";
const WORK =
  "Counts recorded in the trace, or derived from the shapes in the XLA program. " +
  "Bytes served by caches are included.";

const why = explaining(TRACE);

/** By default, columns without values in `table` are hidden. */
export function opColumns(table: DataTable): ColumnSpec[] {
  const hasDevice = sideRows(table, "Device") !== null;
  const hasHost = sideRows(table, "Host") !== null;
  const unit = table.properties.matrix_unit || "Tensor Cores";
  return [
    rankSpec(why("Rank by self time, devices first, then hosts", "none")),
    nameSpec("operation", "Operation", 340, why("Name of the op, preceded by its scopes", "none")),
    textSpec(
      "host_or_device",
      "Host/device",
      102,
      hasDevice && hasHost,
      why("Where the op ran", "none"),
    ),
    textSpec("type", "Type", 128, true, why("Type of the op in its framework", "none")),
    {
      id: "occurrences",
      title: "Occurrences",
      quantity: "count",
      width: 104,
      isShown: true,
      group: { how: "sum" },
      explanation: why("Number of times the op ran", "executions"),
    },
    {
      id: "total_time",
      title: "Total",
      quantity: "time",
      width: 88,
      isShown: true,
      group: { how: "sum" },
      explanation: why("Sum of the op's durations, including the ops it called", TIME_UNIT),
    },
    {
      id: "avg_time",
      title: "Avg.",
      quantity: "time",
      width: 80,
      isShown: false,
      group: { how: "quotient", of: "total_time", by: "occurrences" },
      explanation: why("Total ÷ occurrences", TIME_UNIT),
    },
    {
      id: "total_self_time",
      title: "Self",
      quantity: "time",
      width: 92,
      isShown: true,
      hasBar: true,
      group: { how: "sum" },
      explanation: why("Total minus the time in the ops it called", TIME_UNIT),
    },
    {
      id: "avg_self_time",
      title: "Avg. self",
      quantity: "time",
      width: 84,
      isShown: true,
      group: { how: "quotient", of: "total_self_time", by: "occurrences" },
      explanation: why("Self ÷ occurrences", TIME_UNIT),
    },
    ...shareColumns(hasDevice && hasHost),
    {
      id: "measured_flop_rate",
      title: "FLOP rate",
      quantity: "number",
      unit: "GFLOP/s",
      width: 88,
      isShown: isMeasured(table, "measured_flop_rate"),
      group: { how: "mean", weight: "span_time" },
      explanation: why("Floating-point operations ÷ total", "10⁹ operations per second", WORK),
    },
    {
      id: "model_flop_rate",
      title: "Model FLOP rate",
      quantity: "number",
      unit: "GFLOP/s",
      width: 128,
      isShown: false,
      group: { how: "mean", weight: "span_time" },
      explanation: why(
        "Floating-point operations of the model, without those that the compiler added ÷ total",
        "10⁹ operations per second",
        WORK,
      ),
    },
    {
      id: "measured_memory_bw",
      title: "Bandwidth",
      quantity: "number",
      unit: "GiB/s",
      width: 92,
      isShown: isMeasured(table, "measured_memory_bw"),
      group: { how: "mean", weight: "span_time" },
      explanation: why(
        "Bytes read from and written to memory ÷ total; for a transfer that runs alongside other ops, ÷ its work time",
        "2³⁰ bytes per second",
        WORK,
      ),
    },
    intensitySpec(WORK),
    {
      id: "gpu_tensorcore_utilization",
      title: unit.replace(/s$/, ""),
      quantity: "ratio",
      width: 100,
      isShown: isMeasured(table, "gpu_tensorcore_utilization"),
      group: { how: "mean", weight: "total_time" },
      explanation: why(
        `Time of the op's kernels that use ${unit} ÷ time of its kernels for which this is known`,
        "share of kernel time",
        "Names of kernels, and types in the compiled programs in the trace",
      ),
    },
    textSpec(
      "bound_by",
      "Bound by",
      110,
      false,
      why(
        "The resource of the device that the op brings closest to its peak",
        "none",
        "FLOP rate, memory bandwidth and the device's peaks",
      ),
    ),
    {
      id: "span_time",
      title: "Work time",
      quantity: "time",
      width: 128,
      isShown: false,
      group: { how: "sum" },
      explanation: why(
        "Total; for a transfer that runs alongside other ops, the time from its start to its end",
        TIME_UNIT,
      ),
    },
    textSpec(
      "roof_note",
      "Above the roof",
      220,
      hasText(table, "roof_note"),
      why(
        "Why the op appears to exceed the device's peaks; empty if it does not",
        "none",
        "FLOP rate, memory bandwidth and the device's peaks",
      ),
    ),
    textSpec(
      "eager",
      "Execution",
      104,
      false,
      why("Eager: dispatched individually. Function: run inside a compiled function", "none"),
    ),
  ];
}

function shareColumns(hasBothSides: boolean): ColumnSpec[] {
  return [
    {
      id: SHARE,
      title: "Share",
      quantity: "ratio",
      width: 84,
      isShown: true,
      hasNoTotal: hasBothSides,
      group: { how: "sum" },
      explanation: why("Self ÷ self time of all ops on the same side, host or device", "percent"),
    },
    {
      id: CUMULATIVE,
      title: "Cumulative",
      quantity: "ratio",
      width: 112,
      isShown: true,
      group: { how: "running", of: SHARE },
      explanation: why(
        "Sum of “Share” over this row and the rows above it on the same side",
        "percent",
      ),
    },
    ...(["device", "host"] as const).flatMap(sideColumns),
  ];
}

/** The same shares as sent by the server: 0 for rows of the other side. */
function sideColumns(side: "device" | "host"): ColumnSpec[] {
  const title = side === "device" ? "Device" : "Host";
  const share = `${side}_total_self_time_percent`;
  return [
    {
      id: share,
      title: `${title} self`,
      quantity: "ratio",
      width: 116,
      isShown: false,
      group: { how: "sum" },
      explanation: why(
        `Self ÷ self time of all ops on the ${side}; 0 for rows of the other side`,
        "percent",
      ),
    },
    {
      id: `${side}_cumulative_total_self_time_percent`,
      title: `${title} cumulative`,
      quantity: "ratio",
      width: 172,
      isShown: false,
      group: { how: "running", of: share },
      explanation: why(
        `Sum of “${title} self” from rank 1 to this row; 0 for rows of the other side`,
        "percent",
      ),
    },
  ];
}
