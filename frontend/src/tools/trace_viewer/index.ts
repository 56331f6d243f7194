import { defineTool } from "../tool";
import { PointerHelp } from "./pointer/pointer_help";
import { TracePage } from "./view";

/** The page asks for what it shows as it is needed, so that there is no payload. */
export default defineTool<null>({
  parse: () => null,
  warnings: () => [],
  emptiness: () => null,
  finds: () => [],
  Page: TracePage,
  Help: PointerHelp,
});
