import type { ToolEntry } from "../tools";

export default {
  outline: "split",
  parameters: ["graph_host", "input_pipeline", "rank"],
  // Without a rank the server sends every execution's graph. The worst is the slowest that tells why.
  defaults: { rank: "worst" },
} satisfies ToolEntry;
