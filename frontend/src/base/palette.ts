/** Colours of charts. Each is a custom property of styles.css, so that themes switch without us. */

/** What a colour means on every page. */
const MEANINGS: readonly (readonly [pattern: RegExp, color: string])[] = [
  [/^idle$/i, "idle"],
  [/^(iterator|dataset|infeed|input)/i, "input"],
  [/memcpy|memset|^copy/i, "copy"],
  [/nccl|all-?reduce|all-?gather|reduce-?scatter|all-?to-?all|collective/i, "collective"],
];

/** For names without such a meaning, most different first. */
const FREE = [
  "compute16",
  "host",
  "launch",
  "compile",
  "output",
  "compute32",
  "copy",
  "collective",
  "input",
];

/** One colour per name, in order; no two names share one while there are colours. */
export function chooseColors(names: readonly string[]): string[] {
  const meant = names.map((name) => MEANINGS.find(([pattern]) => pattern.test(name))?.[1]);
  const taken = new Set(meant);
  const free = FREE.filter((color) => !taken.has(color));
  const used = new Set<string>();
  let at = 0;
  return meant.map((color) => {
    const isFirst = color !== undefined && !used.has(color);
    const chosen = isFirst ? color : (free[at++] ?? "idle");
    used.add(chosen);
    return `var(--c-${chosen})`;
  });
}
