import type { ToolEntry } from "../tools";

export default {
  outline: "aside",
  parameters: [
    "program_id",
    "module_name",
    "program_host",
    "memory_space",
    "instant",
    "from_event",
    "to_event",
  ],
} satisfies ToolEntry;
