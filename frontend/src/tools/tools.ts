/** The pages there are, each loaded when it is first opened. A new tool is one line here. */
import type { Outline } from "../widgets/text/message";
import type { AnyTool } from "./tool";

export interface ToolEntry {
  /** For the bar. */
  readonly short: string;
  readonly title: string;
  /** What is shown before data; by default a row of charts above a table. */
  readonly outline?: Outline;
  /** What of the address the server is asked with; pages that have a parameter share its value. */
  readonly parameters?: readonly string[];
  /** What the server is asked with where the address says nothing of it. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** The page asks the server itself, for what it shows: its payload is null. */
  readonly asksItself?: boolean;
  readonly load: () => Promise<AnyTool>;
}

export const TOOLS: Readonly<Record<string, ToolEntry>> = {
  overview_page: {
    short: "Overview",
    title: "Overview",
    outline: "steps",
    parameters: ["marker", "steps"],
    load: async () => (await import("./overview_page")).default,
  },
  input_pipeline_analyzer: {
    short: "Input",
    title: "Input pipeline",
    outline: "steps",
    parameters: ["marker", "steps"],
    load: async () => (await import("./input_pipeline_analyzer")).default,
  },
  tf_data_bottleneck_analysis: {
    short: "tf.data",
    title: "tf.data bottleneck analysis",
    outline: "split",
    parameters: ["graph_host", "input_pipeline", "rank"],
    // Without a rank the server sends every execution's graph. The worst is the slowest that tells why.
    defaults: { rank: "worst" },
    load: async () => (await import("./tf_data_bottleneck_analysis")).default,
  },
  framework_op_stats: {
    short: "Ops",
    title: "TensorFlow stats",
    load: async () => (await import("./framework_op_stats")).default,
  },
  kernel_stats: {
    short: "Kernels",
    title: "GPU kernel stats",
    outline: "split",
    load: async () => (await import("./kernel_stats")).default,
  },
  memory_profile: {
    short: "Memory",
    title: "Memory profile",
    outline: "aside",
    load: async () => (await import("./memory_profile")).default,
  },
  pod_viewer: {
    short: "Pod",
    title: "Pod viewer",
    outline: "steps",
    parameters: ["marker", "steps"],
    load: async () => (await import("./pod_viewer")).default,
  },
  trace_viewer: {
    short: "Trace",
    title: "Trace viewer",
    outline: "bleed",
    asksItself: true,
    load: async () => (await import("./trace_viewer")).default,
  },
};
