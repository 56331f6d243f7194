/** Short names of events. */
import { foldName, readableName } from "../../../base/names";

/** Characters that a canvas would draw as boxes, and control characters for text direction. */
const UNSEEN = /[\p{Cc}\p{Cf}]/gu;

/** The readable name with folded arguments; for C++ functions, without return type and scopes. */
export function shortName(raw: string): string {
  const name = foldName(readableName(raw)).replace(UNSEEN, "\ufffd");
  if (!name.startsWith("void ") && !name.includes("(")) return name;
  return name.replace(/^(?:void )?(?:\(anonymous namespace\)::|[\w~]+::)*(?=[\w~])/, "");
}
