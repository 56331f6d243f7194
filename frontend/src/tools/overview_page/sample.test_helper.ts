/** Payloads of overview_page as the server makes them on a GPU, a TPU and a CPU. */
import type { Cell } from "../../base/csv";
import { rowsJson, tableJson } from "../../widgets/table/sample.test_helper";

type Cells = readonly Cell[];

export type SampleDevice = "gpu" | "tpu" | "cpu" | "none";

interface SampleOptions {
  readonly kind: SampleDevice;
  readonly steps: number;
}

/** Deterministic noise, 0–1. */
function noise(at: number): number {
  const value = Math.sin(at * 12.9898) * 43758.5453;
  return value - Math.floor(value);
}

/** The list of tables, in columns. */
export function samplePayload({ kind, steps }: SampleOptions): unknown[] {
  const none = kind === "none";
  return [
    none || kind === "cpu" ? rowsJson(OPS_IDS, []) : rowsJson(OPS_IDS, OPS),
    stepTable(kind, none ? 0 : steps),
    tableJson(
      {},
      { device_type: { gpu: "Nvidia GPU (Volta)", tpu: "TPU v6e", cpu: "CPU", none: "CPU" }[kind] },
    ),
    tableJson({}),
    tableJson({}),
    {},
    rowsJson(
      "severity message",
      none
        ? [["WARNING", "No step was found: step times are unknown."]]
        : [["INFO", "Steps 0 and 9 were not fully recorded."]],
    ),
    rowsJson(FINDING_IDS, none ? [] : FINDINGS),
    rowsJson(FIGURE_IDS, FIGURES[kind]),
    rowsJson("id label ms deviation share parent", none ? [] : BREAKDOWN),
    rowsJson("id label value note host", ENVIRONMENT),
    rowsJson("name count median_ms line is_current", none ? [] : MARKERS),
    rowsJson("id label event ms share parent", none ? [] : IDLE),
    kind === "gpu" ? { ...rowsJson(FAMILY_IDS, FAMILIES), p: { usual: "yes" } } : {},
  ];
}

function stepTable(kind: SampleDevice, count: number) {
  const column = (mean: number, spread = 0.3) =>
    Array.from(
      { length: count },
      (_, index) => mean * (1 - spread / 2 + spread * noise(index + mean)),
    );
  const half = column(kind === "cpu" ? 0 : 1.1);
  const single = column(kind === "cpu" ? 0 : 0.5);
  const unknown = column(kind === "cpu" ? 0 : 0.2);
  const input = column(1.07, 1.5).map((ms, index) =>
    index === Math.floor(count / 3) ? ms * 4 : ms,
  );
  const parts = {
    deviceComputeTimeMs: half.map((ms, index) => ms + single[index] + unknown[index]),
    deviceToDeviceTimeMs: column(kind === "gpu" ? 0.05 : 0),
    deviceCollectivesTimeMs: column(kind === "cpu" ? 0 : 0.3),
    hostComputeTimeMs: column(kind === "cpu" ? 1.9 : 0.1),
    kernelLaunchTimeMs: column(kind === "gpu" ? 0.2 : 0),
    infeedTimeMs: input,
    outfeedTimeMs: column(0.02),
    compileTimeMs: Array.from({ length: count }, (_, index) => (index === 0 ? 2 : 0)),
    otherTimeMs: column(0.15),
  };
  const total = Array.from({ length: count }, (_, index) =>
    Object.values(parts).reduce((sum, part) => sum + part[index], 0),
  );
  return tableJson(
    {
      stepnum: Array.from({ length: count }, (_, index) => String(index + 100)),
      ...parts,
      stepTimeMs: total,
      deviceCompute64Ms: column(0),
      deviceCompute32Ms: single,
      deviceComputeTf32Ms: column(0),
      deviceCompute16Ms: half,
      deviceCompute8Ms: column(0),
      deviceComputeUnknownMs: unknown,
      startMs: total.map((_, index) => total.slice(0, index).reduce((sum, ms) => sum + ms, 0)),
      isTruncated: total.map((_, index) => count > 2 && (index === 0 || index === count - 1)),
    },
    {
      hardware_type: { gpu: "GPU", tpu: "TPU", cpu: "CPU_ONLY", none: "CPU_ONLY" }[kind],
      infeed_percent_minimum: count === 0 ? "" : "12.1",
      infeed_percent_maximum: count === 0 ? "" : "79.5",
      step_source: count === 0 ? "none" : kind === "cpu" ? "executions" : "markers",
      step_marker: count === 0 ? "" : "train",
      step_note:
        count === 0
          ? "No annotation marks steps, and nothing repeats on the busiest thread."
          : "Steps are the annotations “train” of thread python3.",
      is_inferred: kind === "cpu" ? "true" : "false",
    },
  );
}

const OPS_IDS = "selfTimePercent cumulativeTimePercent category operation flopRate";
const OPS: readonly Cells[] = [
  [0.31, 0.31, "Conv2D", "resnet/conv2_block1/Conv2D", 8400],
  [0.18, 0.49, "MatMul", "resnet/dense/MatMul", 9100],
  [0.12, 0.61, "FusedBatchNormV3", "resnet/bn/FusedBatchNormV3", 120],
  [0.05, 0.66, "Relu", "<img src=x onerror=alert(1)>", 20],
  [0.01, 0.67, "void cub::DeviceReduce", `resnet/${"very_long_scope/".repeat(12)}Sum`, null],
];

const FAMILY_IDS = "selfTimePercent cumulativeTimePercent category operation ops";
const FAMILIES: readonly Cells[] = [
  [0.43, 0.43, "Conv2D", "replica_*/resnet/block_*/Conv2D", 24],
  [0.18, 0.61, "MatMul", "resnet/dense/MatMul", 1],
];

const FINDING_IDS =
  "id severity title detail value unit threshold gain_ms gain_ratio action tool tool_label evidence_tool evidence_query guide_title guide_url";
const FINDINGS: readonly Cells[] = [
  [
    "input",
    "high",
    "The program is highly input-bound: 31.6 % of step time is spent waiting for input",
    "Of an average step of 3.40 ms, the devices spend 1.07 ms waiting for data. No stage of the input pipeline was seen at work.",
    31.6,
    "%",
    20,
    1.07,
    0.316,
    "Prefetch: end the pipeline with dataset.prefetch(tf.data.AUTOTUNE), and map with num_parallel_calls=tf.data.AUTOTUNE.",
    "input_pipeline_analyzer",
    "Input pipeline",
    "framework_op_stats",
    "f.operation=Iterator&filters=1",
    "Better performance with tf.data",
    "https://www.tensorflow.org/guide/data_performance",
  ],
  [
    "precision",
    "moderate",
    "Most compute runs in 32 bit",
    "Only 8.0 % of device compute uses 16-bit numbers.",
    8,
    "%",
    10,
    0.4,
    0.118,
    "Switch to mixed precision.",
    "kernel_stats",
    "Kernels",
    "kernel_stats",
    "sort=-total_duration_us",
    "Mixed precision",
    "javascript:alert(1)",
  ],
  ["launch", "good", "Kernels are launched in time", "", 2.1, "%", 3],
];

const FIGURE_IDS = "id label value unit text reason explanation note";
const IMPLAUSIBLE = "more operations than the peak allows: the peak is implausible";
const FIGURES_GPU: readonly Cells[] = [
  ["step_time_average", "Average step", 3.4, "ms", "", "", "Mean over the whole steps"],
  ["step_time_deviation", "Deviation", 0.12, "ms", "", "", ""],
  ["step_time_minimum", "Shortest", 3.1, "ms", "", "", ""],
  ["step_time_maximum", "Longest", 9.6, "ms", "", "", ""],
  ["steps", "Steps", 8, "count", "", "", ""],
  ["waiting_for_input", "Waiting for input", 31.6, "%", "", "", ""],
  ["device_busy", "Device busy", 62.3, "%", "", "", ""],
  ["device_compute_64", "64 bit", 0, "%", "", "", ""],
  ["device_compute_32", "32 bit", 27.8, "%", "", "", ""],
  ["device_compute_16", "16 bit", 61.1, "%", "", "", ""],
  ["device_compute_unknown", "Unknown", 11.1, "%", "", "", ""],
  ["peak_memory", "Peak memory", 12.4 * 2 ** 30, "bytes", "", "", ""],
  ["memory_capacity", "Capacity", 15.8 * 2 ** 30, "bytes", "", "", ""],
  ["flop_rate", "FLOP rate", 8420, "GFLOP/s", "", "", "Operations ÷ time"],
  ["memory_bandwidth", "Memory bandwidth", 312, "GB/s", "", "", ""],
  ["host_op_eager", "Host ops, eager", null, "%", "", "no op says how it was run", ""],
];
const FIGURES_TPU: readonly Cells[] = [
  ...FIGURES_GPU.slice(0, 11),
  ["peak_memory", "Peak memory", null, "bytes", "", "the trace holds no allocations", ""],
  ["mxu_utilization", "MXU utilization", null, "%", "", "the trace has no such counter", ""],
  ["hbm_utilization", "HBM utilization", 41.2, "%", "", "", ""],
  ["flop_rate", "FLOP rate", 84_200, "GFLOP/s", "", "", ""],
  ["flop_utilization", "FLOP utilization", 131, "%", "", "", "", IMPLAUSIBLE],
  ["duty_cycle", "Duty cycle", 88.1, "%", "", "", ""],
];
const FIGURES_NONE: readonly Cells[] = [
  ["step_time_average", "Average step", null, "ms", "", "no steps were found", ""],
  ["waiting_for_input", "Waiting for input", null, "%", "", "no steps were found", ""],
  ["device_busy", "Device busy", null, "%", "", "no device was recorded", ""],
  ["device_compute_16", "16 bit", null, "%", "", "no device was recorded", ""],
  ["peak_memory", "Peak memory", null, "bytes", "", "the trace holds no allocations", ""],
];

const FIGURES_CPU: readonly Cells[] = [
  ...FIGURES_GPU.slice(0, 6),
  ["host_compute", "Host compute", 22.8, "%", "", "", ""],
  ["python", "Python", 3.5, "%", "", "", ""],
  ["threads_at_work", "Threads at work", 1.25, "", "", "", ""],
];
const FIGURES = { gpu: FIGURES_GPU, tpu: FIGURES_TPU, cpu: FIGURES_CPU, none: FIGURES_NONE };

const BREAKDOWN: readonly Cells[] = [
  ["other", "All others", 0.15, 0.01, 4.4, ""],
  ["compilation", "Compilation", 0, 0, 0, ""],
  ["output", "Output", 0.02, 0.001, 0.6, ""],
  ["input", "Input", 1.07, 0.3, 31.5, ""],
  ["kernel_launch", "Kernel launch", 0.2, 0.02, 5.9, ""],
  ["host_compute", "Host compute", 0.1, 0.01, 2.9, ""],
  ["collectives", "Device collectives", 0.01, null, 0.3, ""],
  ["device_to_device", "Device to device", 0.05, null, 1.5, ""],
  ["device_compute", "Device compute", 1.8, 0.1, 52.9, ""],
  ["compute_64", "64 bit", 0, 0, 0, "device_compute"],
  ["compute_32", "32 bit", 0.5, 0.1, 14.7, "device_compute"],
  ["compute_16", "16 bit", 1.1, 0.1, 32.4, "device_compute"],
  ["compute_unknown", "Unknown precision", 0.2, 0.1, 5.9, "device_compute"],
];

const ENVIRONMENT: readonly Cells[] = [
  ["hosts", "Hosts", "2", "", ""],
  ["device_type", "Device type", "Nvidia GPU (Volta), Tesla V100-SXM2-16GB", "", ""],
  ["devices", "Devices", "2", "of 8 that the host has", ""],
  ["peak_flops", "Peak", "125 TFLOP/s", "16 bit, Tensor Cores", ""],
  ["tensorflow", "TensorFlow", "", "the trace does not say", ""],
  ["window", "Recorded", "1.20 s", "", "h0"],
  ["dropped", "Dropped events", "0", "", "h0"],
];

const IDLE: readonly Cells[] = [
  ["python", "Python", "", 0.12, 3.5, ""],
  ["python.0", "batch (train.py:14): time.sleep", "$train.py:14 batch", 0.1, 2.9, "python"],
  ["uncovered", "Not covered by any recorded event", "", 0.03, 0.9, ""],
];

const MARKERS: readonly Cells[] = [
  ["train", 10, 3.4, "python3", true],
  ["IteratorGetNext", 10, 1.1, "tf_Compute", false],
  ["$<frozen importlib>:1 <module> & co", 30, 0.2, "python3", false],
];
