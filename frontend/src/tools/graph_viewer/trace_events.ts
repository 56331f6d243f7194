/** Targets in the trace viewer for executions of an instruction. */
import type { View } from "../../base/url_state";
import { marking } from "../links/trace_links";
import type { ProgramGraph } from "./payload";

/** On TPUs, events are named after the instruction; elsewhere an argument contains its name. */
export function instructionEvents(
  { deviceType }: Pick<ProgramGraph, "deviceType">,
  { name }: { readonly name: string },
): View {
  return marking(deviceType === "TPU" ? `whole:${name}` : `arg:hlo_op=${name}`);
}
