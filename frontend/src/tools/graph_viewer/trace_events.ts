/** Where in the trace viewer the executions of an instruction are. */
import type { View } from "../../base/url_state";
import { marking } from "../links/trace_links";
import type { ProgramGraph } from "./payload";

/** Events on TPUs have the instruction's name, others say it in an argument. */
export function instructionEvents(
  { deviceType }: Pick<ProgramGraph, "deviceType">,
  { name }: { readonly name: string },
): View {
  return marking(deviceType === "TPU" ? `whole:${name}` : `arg:hlo_op=${name}`);
}
