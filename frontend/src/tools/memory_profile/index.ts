import { texts } from "../../api/data_table";
import { defineTool, showOnly } from "../tool";
import { type Memory, parseMemory } from "./payload";
import { MemoryPage } from "./view";

export default defineTool<Memory>({
  parse: parseMemory,
  warnings: () => [],
  emptiness: ({ allocators }) =>
    allocators.length > 0
      ? null
      : "The trace has no memory events: no allocator reported any during the recording, or the profiler did not record them (for GPUs and TPUs, host tracer level 2 or higher does).",
  finds: ({ allocators, breakdown: { table } }, select) => [
    {
      kind: "Memory",
      names: allocators.map(({ id }) => id),
      choose: (id) => select({ memory_id: id, at_ps: null }),
    },
    {
      kind: "Op",
      names: texts(table, "op")?.strings ?? [],
      choose: (name) => showOnly(table, "op", name, select),
    },
  ],
  Page: MemoryPage,
});
