/** What of the address goes to the server with a request, and from one page to the next. */
import type { Place } from "../../base/url_state";
import { TOOLS } from "../../tools/tools";

/** The options of the page that are set, by name, and those that it always asks with. */
export function ownOptions({ tool, view }: Place): Readonly<Record<string, string>> {
  const names = TOOLS[tool]?.parameters ?? [];
  const set = names.filter((name) => view[name]).map((name) => [name, view[name]]);
  return { ...TOOLS[tool]?.defaults, ...Object.fromEntries(set) };
}

/** The options that both the page and `tool` have; null for one that is not set. */
export function sharedOptions(
  { tool: from, view }: Place,
  tool: string,
): Readonly<Record<string, string | null>> {
  const names = (TOOLS[tool]?.parameters ?? []).filter((name) =>
    TOOLS[from]?.parameters?.includes(name),
  );
  return Object.fromEntries(names.map((name) => [name, view[name] ?? null]));
}
