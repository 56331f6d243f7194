import type { ToolEntry } from "../tools";

export default {
  outline: "split",
  parameters: ["graph_host", "input_pipeline", "rank"],
  // Without a rank, the server sends the graphs of all executions. "worst" is the slowest explained one.
  defaults: { rank: "worst" },
} satisfies ToolEntry;
