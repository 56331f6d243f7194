import { defineTool, showOnly } from "../tool";
import { type KernelStats, parseKernelStats } from "./payload";
import { KernelStatsPage } from "./view";

export default defineTool<KernelStats>({
  parse: parseKernelStats,
  warnings: ({ table }) => table.warnings,
  emptiness: ({ table }) =>
    table.length > 0
      ? null
      : "The trace has no GPU kernels: nothing ran on a GPU during the recording, or the profiler had no access to the GPU.",
  finds: ({ kernels, table }, select) => [
    {
      kind: "Kernel",
      names: kernels,
      choose: (name) => showOnly(table, "kernel_name", name, select),
    },
  ],
  Page: KernelStatsPage,
});
