/** Names of events as they are written where there is little room. */
import { foldName, readableName } from "../../../base/names";

/** What a canvas would write as a box, or take for an order to write backwards. */
const UNSEEN = /[\p{Cc}\p{Cf}]/gu;

/** Readable, its arguments folded; of a C++ function what leads to its own name is left out. */
export function shortName(raw: string): string {
  const name = foldName(readableName(raw)).replace(UNSEEN, "\ufffd");
  if (!name.startsWith("void ") && !name.includes("(")) return name;
  return name.replace(/^(?:void )?(?:\(anonymous namespace\)::|[\w~]+::)*(?=[\w~])/, "");
}
