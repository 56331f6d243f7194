import type { ToolEntry } from "../tools";

export default {
  outline: "steps",
  parameters: ["marker", "steps"],
} satisfies ToolEntry;
