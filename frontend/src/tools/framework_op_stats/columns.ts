/** The columns of the op table. */
import { type DataTable, hasText, isMeasured } from "../../api/data_table";
import type { ColumnSpec } from "../../widgets/table/columns";
import {
  explaining,
  intensitySpec,
  nameSpec,
  numberSpec,
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
      ...numberSpec("occurrences", "Occurrences", "count", 104),
      explanation: why("Number of times the op ran", "executions"),
    },
    {
      ...numberSpec("total_time", "Total", "time", 88),
      explanation: why("Sum of the op's durations, including the ops it called", TIME_UNIT),
    },
    {
      ...numberSpec("avg_time", "Avg.", "time", 80),
      isShown: false,
      group: { how: "quotient", of: "total_time", by: "occurrences" },
      explanation: why("Total ÷ occurrences", TIME_UNIT),
    },
    {
      ...numberSpec("total_self_time", "Self", "time", 92),
      hasBar: true,
      explanation: why("Total minus the time in the ops it called", TIME_UNIT),
    },
    {
      ...numberSpec("avg_self_time", "Avg. self", "time", 84),
      group: { how: "quotient", of: "total_self_time", by: "occurrences" },
      explanation: why("Self ÷ occurrences", TIME_UNIT),
    },
    ...shareColumns(hasDevice && hasHost),
    {
      ...numberSpec("measured_flop_rate", "FLOP rate", "number", 88),
      isShown: isMeasured(table, "measured_flop_rate"),
      unit: "GFLOP/s",
      group: { how: "mean", weight: "span_time" },
      explanation: why("Floating-point operations ÷ total", "10⁹ operations per second", WORK),
    },
    {
      ...numberSpec("model_flop_rate", "Model FLOP rate", "number", 128),
      isShown: false,
      unit: "GFLOP/s",
      group: { how: "mean", weight: "span_time" },
      explanation: why(
        "Floating-point operations of the model, without those that the compiler added ÷ total",
        "10⁹ operations per second",
        WORK,
      ),
    },
    {
      ...numberSpec("measured_memory_bw", "Bandwidth", "number", 92),
      isShown: isMeasured(table, "measured_memory_bw"),
      unit: "GiB/s",
      group: { how: "mean", weight: "span_time" },
      explanation: why(
        "Bytes read from and written to memory ÷ total; for a transfer that runs alongside other ops, ÷ its work time",
        "2³⁰ bytes per second",
        WORK,
      ),
    },
    intensitySpec(WORK),
    {
      ...numberSpec("gpu_tensorcore_utilization", unit.replace(/s$/, ""), "ratio", 100),
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
      ...numberSpec("span_time", "Work time", "time", 128),
      isShown: false,
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
      ...numberSpec(SHARE, "Share", "ratio", 84),
      hasNoTotal: hasBothSides,
      explanation: why("Self ÷ self time of all ops on the same side, host or device", "percent"),
    },
    {
      ...numberSpec(CUMULATIVE, "Cumulative", "ratio", 112),
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
      ...numberSpec(share, `${title} self`, "ratio", 116),
      isShown: false,
      explanation: why(
        `Self ÷ self time of all ops on the ${side}; 0 for rows of the other side`,
        "percent",
      ),
    },
    {
      ...numberSpec(
        `${side}_cumulative_total_self_time_percent`,
        `${title} cumulative`,
        "ratio",
        172,
      ),
      isShown: false,
      group: { how: "running", of: share },
      explanation: why(
        `Sum of “${title} self” from rank 1 to this row; 0 for rows of the other side`,
        "percent",
      ),
    },
  ];
}
