/** Filters the table of instructions by a framework op. */
import type { View } from "../../base/url_state";

/** Prefixes of op names that stand for compiled JAX functions, with an optional source location. */
const COMPILED = /^((?:jit|pjit|pmap|xmap)\([^()/,]+)(?:, [^()]*)?\)/;
/** The maximum length of a filter's pattern; see widgets/table/filter.ts. */
const MOST_PATTERN = 500;
/** Names of XLA instructions: "fusion.7", "copy-done". */
const INSTRUCTION = /^[A-Za-z_][\w-]*(?:\.\d+)+$/;

/** The filters that select these instructions; null if the op is not known to have any. */
export function instructionsOfOp(op: string): View | null {
  if (INSTRUCTION.test(op)) return { "f.hlo_op_name": `=${op}`, filters: "1" };
  if (!COMPILED.test(op)) return null;
  const name = op.replace(COMPILED, "$1)").replace(/[\\^$.|?*+()[\]{}/]/g, "\\$&");
  const pattern = `/^${name}(:|$)/`;
  return pattern.length > MOST_PATTERN ? null : { "f.tf_op_name": pattern, filters: "1" };
}
