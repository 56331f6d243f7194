import type { ToolEntry } from "../tools";

export default {
  outline: "split",
  parameters: ["per", "feeds"],
  isInBatches: true,
  defaults: { per: "op", feeds: "1" },
} satisfies ToolEntry;
