import { defineTool } from "../tool";
import { parseTfData, type TfData } from "./payload";
import { TfDataPage } from "./view";

export default defineTool<TfData>({
  parse: parseTfData,
  warnings: ({ warnings }) => warnings,
  emptiness: ({ pipelines, message }) =>
    pipelines.length > 0
      ? null
      : message ||
        "The chosen hosts have no tf.data events: no input pipeline worked during the recording, or the program does not use tf.data.",
  finds: ({ graph }, select) => [
    {
      kind: "Iterator",
      names: [...new Set(graph.nodes.map(({ longName }) => longName))],
      choose: (name) => {
        const iterator = graph.nodes.find(({ longName }) => longName === name);
        if (iterator) select({ node: iterator.id, graph: null });
      },
    },
  ],
  Page: TfDataPage,
});
