/** Names without their common parts. */

const SEPARATORS = "-._/: ";

/**
 * Shortens "t1v-n-ab-w-0.eu" and "t1v-n-ab-w-1.eu" to "w-0" and "w-1": removes common words at the
 * start, except the last one, which tells what the numbers count, and at the end.
 */
export function shortNames(names: readonly string[]): readonly string[] {
  if (new Set(names).size < 2) return names;
  const start = startWords(names);
  const end = sharedLength(names.map(reverse));
  const [first] = names;
  let tail = 0;
  for (let index = 1; index <= end; index++) {
    if (SEPARATORS.includes(first[first.length - index])) tail = index;
  }
  const made = names.map((name) => name.slice(start, name.length - tail));
  return made.every(Boolean) && new Set(made).size === new Set(names).size ? made : names;
}

/** The start of the last word that all names have in common at their beginning. */
function startWords(names: readonly string[]): number {
  const shared = names[0].slice(0, sharedLength(names));
  const starts = [0];
  for (let index = 0; index < shared.length; index++) {
    if (SEPARATORS.includes(shared[index])) starts.push(index + 1);
  }
  return starts.at(-2) ?? 0;
}

function sharedLength(names: readonly string[]): number {
  let length = names[0].length;
  for (const name of names) {
    while (!name.startsWith(names[0].slice(0, length))) length--;
  }
  return length;
}

function reverse(text: string): string {
  return [...text].reverse().join("");
}
