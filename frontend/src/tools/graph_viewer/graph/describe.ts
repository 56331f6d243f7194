/** A few lines about an instruction, for tooltips. */
import { formatTime, plural } from "../../../base/format";
import type { InstructionNode } from "../payload";

export function describe(node: InstructionNode): string {
  return [
    `${node.opcode} ${node.name}`.slice(0, 300),
    node.shape,
    Number.isNaN(node.self) ? "did not run on its own" : `self time ${formatTime(node.self)}`,
    ...node.details,
    node.opName.slice(0, 300),
    node.source.slice(0, 300),
    ...node.constants.map(({ operand, text }) => `operand ${operand}: ${text}`),
    node.leftOperands > 0 ? `${plural(node.leftOperands, "operand")} not drawn` : "",
    node.leftUsers > 0 ? `${plural(node.leftUsers, "user")} not drawn` : "",
  ]
    .filter(Boolean)
    .join("\n");
}
