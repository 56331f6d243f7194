import { defineTool, showOnly } from "../tool";
import { type HloStats, parseHloStats } from "./payload";
import { HloStatsPage } from "./view";

export default defineTool<HloStats>({
  parse: parseHloStats,
  warnings: ({ table }) => table.warnings,
  emptiness: ({ table }) =>
    table.length > 0 ? null : "No instruction of a compiled program ran during the recording.",
  finds: ({ names, table }, select) => [
    {
      kind: "HLO op",
      names,
      choose: (name) => showOnly(table, "hlo_op_name", name, select),
    },
  ],
  Page: HloStatsPage,
});
