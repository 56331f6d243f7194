/** Chart colors. Each is a CSS custom property, so that themes switch without redrawing. */

/** Colors that mean the same on every page. */
const MEANINGS: readonly (readonly [pattern: RegExp, color: string])[] = [
  [/^idle$/i, "idle"],
  [/^(iterator|dataset|infeed|input)/i, "input"],
  [/memcpy|memset|^copy/i, "copy"],
  [/nccl|all-?reduce|all-?gather|reduce-?scatter|all-?to-?all|collective/i, "collective"],
];

/** Fills that need light text in the light theme. */
const DEEP = ["input", "host", "compile", "transfer", "wait"];

/** The text color on a fill: "var(--ink)" on "var(--c-launch)". */
export function textColorOn(color: string): string {
  return DEEP.some((name) => color === `var(--c-${name})`) ? "var(--ink-on-deep)" : "var(--ink)";
}

/** For other names, most distinct colors first. */
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
 * One color per name, in order; names share a color only when all are in use. A name gets the color
 * of its meaning if no other name here has that meaning.
 */
export function chooseColors(names: readonly string[]): string[] {
  const meanings = names.map((name) => MEANINGS.find(([pattern]) => pattern.test(name))?.[1]);
  const isAlone = (color: string) => meanings.filter((other) => other === color).length === 1;
  const meant = meanings.map((color) => (color && isAlone(color) ? color : undefined));
  const free = FREE.filter((color) => !meant.includes(color));
  let at = 0;
  return meant.map((color) => `var(--c-${color ?? free[at++] ?? "idle"})`);
}
