/** The instructions that a framework op was compiled to, in the table of instructions. */
import type { View } from "../../base/url_state";

/** Functions of JAX that are compiled, as their ops' names begin; tables may add where they are. */
const COMPILED = /^((?:jit|pjit|pmap|xmap)\([^()/,]+)(?:, [^()]*)?\)/;
/** As long as a filter's pattern may be, see widgets/table/filter.ts. */
const MOST_PATTERN = 500;
/** How XLA names instructions: "fusion.7", "copy-done". */
const INSTRUCTION = /^[A-Za-z_][\w-]*(?:\.\d+)+$/;

/** Filters that leave these instructions, null for an op that is not known to have any. */
export function instructionsOfOp(op: string): View | null {
  if (INSTRUCTION.test(op)) return { "f.hlo_op_name": `=${op}`, filters: "1" };
  if (!COMPILED.test(op)) return null;
  const name = op.replace(COMPILED, "$1)").replace(/[\\^$.|?*+()[\]{}/]/g, "\\$&");
  const pattern = `/^${name}(:|$)/`;
  return pattern.length > MOST_PATTERN ? null : { "f.tf_op_name": pattern, filters: "1" };
}
