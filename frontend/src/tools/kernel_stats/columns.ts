/** The columns of the kernel table: cost, launching op, and launch configuration. */
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
    id: "total_duration_us",
    title: "Total",
    quantity: "time",
    width: 92,
    isShown: true,
    hasBar: true,
    group: { how: "sum" },
    explanation: why("Sum of the durations", TIME_UNIT),
  },
  {
    id: "occurrences",
    title: "Launches",
    quantity: "count",
    width: 84,
    isShown: true,
    group: { how: "sum" },
    explanation: why("Number of launches", "launches"),
  },
  {
    id: "avg_duration_us",
    title: "Avg.",
    quantity: "time",
    width: 76,
    isShown: true,
    group: { how: "quotient", of: "total_duration_us", by: "occurrences" },
    explanation: why("Total ÷ launches", TIME_UNIT),
  },
  {
    id: "min_duration_us",
    title: "Min",
    quantity: "time",
    width: 76,
    isShown: true,
    group: { how: "min" },
    explanation: why("Shortest duration", TIME_UNIT),
  },
  {
    id: "max_duration_us",
    title: "Max",
    quantity: "time",
    width: 76,
    isShown: true,
    group: { how: "max" },
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
    id: "measured_flop_rate",
    title: "FLOP rate",
    quantity: "number",
    unit: "GFLOP/s",
    width: 88,
    isShown: isMeasured(table, "measured_flop_rate"),
    group: { how: "mean", weight: "total_duration_us" },
    explanation: why("Floating-point operations ÷ total", "10⁹ operations per second", WORK),
  },
  {
    id: "measured_memory_bw",
    title: "Bandwidth",
    quantity: "number",
    unit: "GiB/s",
    width: 92,
    isShown: isMeasured(table, "measured_memory_bw"),
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
    id: "efficiency",
    title: "% of roof",
    quantity: "ratio",
    width: 96,
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
    id: "registers_per_thread",
    title: "Registers",
    quantity: "count",
    width: 84,
    isShown: true,
    group: { how: "same" },
    explanation: why("Registers per thread", "registers", LAUNCH),
  },
  {
    id: "shmem_bytes",
    title: "Shared memory",
    quantity: "bytes",
    width: 132,
    isShown: true,
    group: { how: "same" },
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
    id: "occupancy_pct",
    title: "Occupancy",
    quantity: "percent",
    width: 92,
    isShown: true,
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
