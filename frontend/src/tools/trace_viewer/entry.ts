import type { ToolEntry } from "../tools";

export default {
  outline: "bleed",
  asksItself: true,
} satisfies ToolEntry;
