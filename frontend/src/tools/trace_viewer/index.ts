import { defineTool } from "../tool";
import { PointerHelp } from "./pointer/pointer_help";
import { TracePage } from "./view";

/** The page requests its data on demand, so it has no payload. */
export default defineTool<null>({
  parse: () => null,
  warnings: () => [],
  emptiness: () => null,
  finds: () => [],
  Page: TracePage,
  Help: PointerHelp,
});
