/** A link from a framework op to the instructions that it was compiled to, if there are any. */
import { ToolLink } from "../links/tool_link";
import type { Links } from "../tool";
import { instructionsOfOp } from "./instructions_of_op";

const HLO_STATS = "hlo_stats";

export function InstructionsLink({ links, op }: { links: Links; op: string }) {
  const view = instructionsOfOp(op);
  return view === null || links.reason(HLO_STATS) !== null ? null : (
    <p class="detail-links">
      <ToolLink links={links} tool={HLO_STATS} view={view}>
        Show its instructions
      </ToolLink>
    </p>
  );
}
