/** Links to other pages that show an instruction: timeline, program, graph. */
import type { View } from "../../base/url_state";
import { ToolLink } from "../links/tool_link";
import { marking, namedEvents, TRACE } from "../links/trace_links";
import type { Links } from "../tool";

/** An instruction, as identified in tables of instructions. */
export interface Instruction {
  readonly name: string;
  /** "" if it does not belong to a program. */
  readonly programId: string;
  readonly deviceType: string;
}

/** Its executions: GPU kernels have the instruction as an argument, other events as their name. */
export function instructionEvents({ name, programId, deviceType }: Instruction): View | null {
  if (name === "") return null;
  return deviceType === "GPU" && programId !== ""
    ? marking(`arg:hlo_op=${name}`)
    : namedEvents(name);
}

/** The available pages of the run that show the instruction. */
export function InstructionLinks({ links, of }: { links: Links; of: Instruction }) {
  const events = instructionEvents(of);
  const place = { program_id: of.programId, node_name: of.name };
  const pages: readonly (readonly [tool: string, view: View, text: string])[] = [
    ...(events ? [[TRACE, events, "Show in the trace viewer"] as const] : []),
    ...(of.programId === ""
      ? []
      : ([
          ["op_profile", place, "Show with its program's other ops"],
          ["graph_viewer", place, "Show its operands, users and text"],
        ] as const)),
  ];
  const known = pages.filter(([tool]) => links.title(tool) !== tool);
  if (known.length === 0) return null;
  return (
    <p class="detail-links">
      {known.map(([tool, view, text], index) => (
        <span key={tool}>
          {index > 0 ? " · " : ""}
          <ToolLink links={links} tool={tool} view={view}>
            {text}
          </ToolLink>
        </span>
      ))}
    </p>
  );
}
