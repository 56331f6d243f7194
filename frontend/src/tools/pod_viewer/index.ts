import { defineTool } from "../tool";
import { type Pod, parsePod } from "./payload";
import { PodPage } from "./view";

export default defineTool<Pod>({
  parse: parsePod,
  warnings: () => [],
  // Without steps, the page shows how to mark them.
  emptiness: () => null,
  finds: ({ steps, workers }, select) => [
    {
      kind: "Step",
      names: steps.labels,
      choose: (name) => select({ step: String(steps.labels.indexOf(name)) }),
    },
    {
      kind: "Worker",
      names: workers.titles,
      choose: (name) => select({ worker: String(workers.titles.indexOf(name)) }),
    },
  ],
  Page: PodPage,
});
