import { defineTool, showOnly } from "../tool";
import { parseRoofline, type Roofline } from "./payload";
import { RooflinePage } from "./view";

export default defineTool<Roofline>({
  parse: parseRoofline,
  warnings: ({ warnings }) => warnings,
  emptiness: ({ table, noSteps }) =>
    table.length > 0 || noSteps !== ""
      ? null
      : "No instruction of a compiled program ran during the recording.",
  finds: ({ names, table }, select) => [
    {
      kind: "HLO op",
      names,
      choose: (name) => showOnly(table, "operation", name, select),
    },
  ],
  Page: RooflinePage,
});
