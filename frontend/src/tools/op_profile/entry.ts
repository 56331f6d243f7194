import type { ToolEntry } from "../tools";

export default {
  outline: "split",
} satisfies ToolEntry;
