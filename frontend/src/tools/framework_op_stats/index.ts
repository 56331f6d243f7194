import { defineTool, showOnly } from "../tool";
import { type OpStats, parseOpStats } from "./payload";
import { OpStatsPage } from "./view";

export default defineTool<OpStats>({
  parse: parseOpStats,
  warnings: ({ withIdle, withoutIdle }) =>
    withIdle.warnings.length > 0 ? withIdle.warnings : withoutIdle.warnings,
  emptiness: ({ withIdle, calls }) =>
    withIdle.length > 0 || calls !== null
      ? null
      : "The trace has no ops, on the host or on devices.",
  finds: ({ operations, withIdle }, select) => [
    {
      kind: "Op",
      names: operations,
      choose: (name) => showOnly(withIdle, "operation", name, select),
    },
  ],
  Page: OpStatsPage,
});
