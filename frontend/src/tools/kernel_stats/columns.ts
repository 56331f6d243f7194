/** The columns of the kernel table: cost, launching op, and launch configuration. */
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

const LAUNCH = "The launch parameters recorded with each kernel.";
const WORK =
  "Counts recorded in the trace, or derived from the shapes in the XLA program, for instructions " +
  "that launch one kernel. Bytes served by caches are included.";
const PEAKS = `${WORK} The roofline page names the sources of the peaks.`;
const TRACE = "Kernel events on the GPU's streams.";

const why = explaining(TRACE);

/** "TC" for "Tensor Cores", NVIDIA's name for a GPU's matrix units. */
const initials = (unit: string) => unit.replace(/[^A-Z]/g, "");

/** Columns of rates are shown if `table` has rates. */
export const kernelColumns = (table: DataTable, unit: string): readonly ColumnSpec[] => [
  rankSpec(why("Rank by total duration", "none")),
  nameSpec(
    "kernel_name",
    "Kernel",
    440,
    why("Name of the kernel; C++ names are demangled and long parts folded", "none"),
  ),
  {
    ...numberSpec("total_duration_us", "Total", "time", 92),
    hasBar: true,
    explanation: why("Sum of the durations", TIME_UNIT),
  },
  {
    ...numberSpec("occurrences", "Launches", "count", 84),
    explanation: why("Number of launches", "launches"),
  },
  {
    ...numberSpec("avg_duration_us", "Avg.", "time", 76),
    group: { how: "quotient", of: "total_duration_us", by: "occurrences" },
    explanation: why("Total ÷ launches", TIME_UNIT),
  },
  {
    ...numberSpec("min_duration_us", "Min", "time", 76, "min"),
    explanation: why("Shortest duration", TIME_UNIT),
  },
  {
    ...numberSpec("max_duration_us", "Max", "time", 76, "max"),
    explanation: why("Longest duration", TIME_UNIT),
  },
  {
    id: "op_name",
    title: "Op",
    isName: true,
    width: 140,
    isShown: true,
    group: { how: "same" },
    noun: "op",
    explanation: why("The op that launched the kernel", "none"),
  },
  textSpec(
    "is_op_tensor_core_eligible",
    `${initials(unit)} eligible`,
    92,
    true,
    why(
      `Whether the op is of a kind that ${unit} can run`,
      "yes or no",
      "The compiled program if it is in the trace, else the op's name and type.",
    ),
  ),
  textSpec(
    "tensor_core_use",
    `${initials(unit)} used`,
    78,
    true,
    why(
      `Whether the kernel runs instructions of ${unit}`,
      "yes, no, or unknown",
      "The kernel's name, and the types that it multiplies in the compiled program.",
    ),
  ),
  {
    ...numberSpec("measured_flop_rate", "FLOP rate", "number", 88),
    isShown: isMeasured(table, "measured_flop_rate"),
    unit: "GFLOP/s",
    group: { how: "mean", weight: "total_duration_us" },
    explanation: why("Floating-point operations ÷ total", "10⁹ operations per second", WORK),
  },
  {
    ...numberSpec("measured_memory_bw", "Bandwidth", "number", 92),
    isShown: isMeasured(table, "measured_memory_bw"),
    unit: "GiB/s",
    group: { how: "mean", weight: "total_duration_us" },
    explanation: why("Bytes read from and written to memory ÷ total", "2³⁰ bytes per second", WORK),
  },
  intensitySpec(WORK),
  textSpec(
    "bound_by",
    "Bound by",
    90,
    isMeasured(table, "efficiency"),
    why(
      "The resource of which the kernel uses the largest share: compute or main memory (HBM). Interconnect: communication between devices. Unknown if the peaks or the work of the kernel are unknown",
      "none",
      PEAKS,
    ),
  ),
  {
    ...numberSpec("efficiency", "% of roof", "ratio", 96),
    isShown: isMeasured(table, "efficiency"),
    group: { how: "mean", weight: "total_duration_us" },
    explanation: why(
      "The larger of FLOP rate ÷ peak for the type that it computes in, and bandwidth ÷ peak of main memory",
      "percent; above 100 % if caches serve bytes",
      PEAKS,
    ),
  },
  textSpec(
    "roof_note",
    "Above the roof",
    220,
    hasText(table, "roof_note"),
    why("Why it appears to exceed the device's peaks; empty if it does not", "none", PEAKS),
  ),
  {
    ...numberSpec("registers_per_thread", "Registers", "count", 84, "same"),
    explanation: why("Registers per thread", "registers", LAUNCH),
  },
  {
    ...numberSpec("shmem_bytes", "Shared memory", "bytes", 132, "same"),
    explanation: why("Static + dynamic shared memory per block", "bytes", LAUNCH),
  },
  textSpec(
    "block_dim",
    "Block",
    88,
    true,
    why("blockDim.x, blockDim.y, blockDim.z", "threads", LAUNCH),
  ),
  textSpec("grid_dim", "Grid", 96, true, why("gridDim.x, gridDim.y, gridDim.z", "blocks", LAUNCH)),
  {
    ...numberSpec("occupancy_pct", "Occupancy", "percent", 92),
    group: { how: "mean", weight: "total_duration_us" },
    explanation: why(
      "Warps that fit on a multiprocessor ÷ warps it can hold, from the launch parameters",
      "percent",
      LAUNCH,
    ),
  },
  textSpec(
    "driver_copy",
    "Driver copy",
    110,
    false,
    why(
      "The copy or memset that the driver performs with this kernel; empty for the program's own kernels",
      "source and destination, if the call that launched it shows them",
      "The kernel's name, and the call that launched it.",
    ),
  ),
  textSpec(
    "is_kernel_using_tensor_core",
    `${initials(unit)} used (certain)`,
    132,
    false,
    why(
      `Whether the kernel is known to run instructions of ${unit}`,
      "yes or no",
      `The same as for “${initials(unit)} used”.`,
    ),
  ),
];
