import { defineTool, showOnly } from "../tool";
import { parseRoofline, type Roofline } from "./payload";
import { RooflinePage } from "./view";

export default defineTool<Roofline>({
  parse: parseRoofline,
  warnings: ({ warnings }) => warnings,
  emptiness: ({ table }) =>
    table.length > 0 ? null : "No instruction of a compiled program ran while this was recorded.",
  finds: ({ names, table }, select) => [
    {
      kind: "HLO op",
      names,
      choose: (name) => showOnly(table, "operation", name, select),
    },
  ],
  Page: RooflinePage,
});
