import { defineTool } from "../tool";
import { type ProgramGraph, parseGraph } from "./payload";
import { GraphPage } from "./view";

export default defineTool<ProgramGraph>({
  parse: parseGraph,
  warnings: ({ warnings }) => warnings,
  emptiness: ({ programs }) =>
    programs.length > 0 ? null : "The chosen hosts recorded no compiled programs.",
  finds: ({ nodes }, select) => [
    {
      kind: "Instruction",
      names: nodes.map(({ name }) => name),
      choose: (name) => select({ node_name: name, node: null, look: null }),
    },
  ],
  Page: GraphPage,
});
