import { defineTool } from "../tool";
import { type Overview, parseOverview } from "./payload";
import { OverviewPage } from "./view";

export default defineTool<Overview>({
  parse: parseOverview,
  warnings: ({ warnings }) => warnings,
  // Without steps, the page still shows findings, and how to mark steps.
  emptiness: () => null,
  finds: ({ steps }, select) => [
    {
      kind: "Step",
      names: steps.labels,
      choose: (name) => select({ step: String(steps.labels.indexOf(name)) }),
    },
  ],
  Page: OverviewPage,
});
