/** Colours of charts. Each is a custom property of styles.css, so that themes switch without us. */

/** What a colour means on every page. */
const MEANINGS: readonly (readonly [pattern: RegExp, color: string])[] = [
  [/^idle$/i, "idle"],
  [/^(iterator|dataset|infeed|input)/i, "input"],
  [/memcpy|memset|^copy/i, "copy"],
  [/nccl|all-?reduce|all-?gather|reduce-?scatter|all-?to-?all|collective/i, "collective"],
];

/** Fills on which light text reads better than dark, in the light theme. */
const DEEP = ["input", "host", "compile", "transfer", "wait"];

/** The colour of text upon a fill: "var(--ink)" upon "var(--c-launch)". */
export function textColorOn(color: string): string {
  return DEEP.some((name) => color === `var(--c-${name})`) ? "var(--ink-on-deep)" : "var(--ink)";
}

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

/**
 * One colour per name, in order; no two names share one while there are colours. A name has the
 * colour of its meaning where it is the only one of that meaning here.
 */
export function chooseColors(names: readonly string[]): string[] {
  const meanings = names.map((name) => MEANINGS.find(([pattern]) => pattern.test(name))?.[1]);
  const isAlone = (color: string) => meanings.filter((other) => other === color).length === 1;
  const meant = meanings.map((color) => (color && isAlone(color) ? color : undefined));
  const free = FREE.filter((color) => !meant.includes(color));
  let at = 0;
  return meant.map((color) => `var(--c-${color ?? free[at++] ?? "idle"})`);
}
