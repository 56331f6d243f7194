/** The columns of the kernel table: what it costs, who launched it, how it was launched. */
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
  "Counts that the trace states, or that follow from the shapes in the XLA program, for instructions " +
  "that launch one kernel. Bytes that caches serve are counted.";
const PEAKS = `${WORK} Peaks: see the roofline page, which names their sources.`;
const TRACE = "Kernel events on the GPU's streams.";

const why = explaining(TRACE);

/** `unit` is what multiplies matrices on the GPU: "Tensor Cores" on NVIDIA's. */
const initials = (unit: string) => unit.replace(/[^A-Z]/g, "");

/** Rates are usual columns where `table` has any. */
export const kernelColumns = (table: DataTable, unit: string): readonly ColumnSpec[] => [
  rankSpec(why("Rank by total duration", "none")),
  nameSpec(
    "kernel_name",
    "Kernel",
    440,
    why("Name of the kernel; C++ names are made readable and long parts folded", "none"),
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
      "The resource of which it uses the largest share: compute, or the main memory (HBM). Interconnect: an exchange between devices. Unknown without peaks, or without its own work",
      "none",
      PEAKS,
    ),
  ),
  {
    id: "efficiency",
    title: "Of the roof",
    quantity: "ratio",
    width: 96,
    isShown: isMeasured(table, "efficiency"),
    group: { how: "mean", weight: "total_duration_us" },
    explanation: why(
      "FLOP rate ÷ peak of the type that it computes in, or bandwidth ÷ peak of the main memory; the larger of both",
      "percent; above 100 % where caches serve bytes",
      PEAKS,
    ),
  },
  textSpec(
    "roof_note",
    "Above the roof",
    220,
    hasText(table, "roof_note"),
    why("Why it seems to exceed the peaks of the device; empty if it does not", "none", PEAKS),
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
      "What the driver copies or sets with this kernel; empty for kernels of the program",
      "source and destination, if the call that launched it shows them",
      "The kernel's name, and the call that launched it.",
    ),
  ),
  textSpec(
    "is_kernel_using_tensor_core",
    `${initials(unit)} used for certain`,
    132,
    false,
    why(
      `Whether the kernel is known to run instructions of ${unit}`,
      "yes or no",
      `The same as for “${initials(unit)} used”.`,
    ),
  ),
];
