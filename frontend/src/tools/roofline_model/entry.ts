import type { ToolEntry } from "../tools";

export default {
  outline: "split",
  parameters: ["level", "feeds"],
  defaults: { level: "op", feeds: "1" },
} satisfies ToolEntry;
