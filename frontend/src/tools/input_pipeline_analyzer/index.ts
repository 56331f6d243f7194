import { texts } from "../../api/data_table";
import { defineTool, showOnly } from "../tool";
import { type InputPipeline, parseInputPipeline } from "./payload";
import { InputPipelinePage } from "./view";

export default defineTool<InputPipeline>({
  parse: parseInputPipeline,
  warnings: ({ warnings }) => warnings,
  // Without steps, the page still shows the host's work, and how to mark steps.
  emptiness: () => null,
  finds: ({ ops }, select) => [
    {
      kind: "Input op",
      names: texts(ops, "opName")?.strings ?? [],
      choose: (name) => showOnly(ops, "opName", name, select),
    },
  ],
  Page: InputPipelinePage,
});
