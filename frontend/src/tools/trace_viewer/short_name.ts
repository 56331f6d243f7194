/** Names of events as they are written where there is little room. */
import { foldName, readableName } from "../../base/names";

/** Readable, its arguments folded; of a C++ function what leads to its own name is left out. */
export function shortName(raw: string): string {
  const name = foldName(readableName(raw));
  if (!name.startsWith("void ") && !name.includes("(")) return name;
  return name.replace(/^(?:void )?(?:\(anonymous namespace\)::|[\w~]+::)*(?=[\w~])/, "");
}
