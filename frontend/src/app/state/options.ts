/** The options in the address that are sent to the server, and that other pages share. */
import type { Place } from "../../base/url_state";
import { TOOLS } from "../../tools/tools";

/** The page's options that are set, by name, and those it always sends. */
export function ownOptions({ tool, view }: Place): Readonly<Record<string, string>> {
  const names = TOOLS[tool]?.parameters ?? [];
  const set = names.filter((name) => view[name]).map((name) => [name, view[name]]);
  return { ...TOOLS[tool]?.defaults, ...Object.fromEntries(set) };
}

/** The options that the page shares with `tool`; null for options that are not set. */
export function sharedOptions(
  { tool: from, view }: Place,
  tool: string,
): Readonly<Record<string, string | null>> {
  const names = (TOOLS[tool]?.parameters ?? []).filter((name) =>
    TOOLS[from]?.parameters?.includes(name),
  );
  return Object.fromEntries(names.map((name) => [name, view[name] ?? null]));
}
