import type { ToolEntry } from "../tools";

export default {
  outline: "aside",
} satisfies ToolEntry;
