/** Splits a framework op's name: "jit(f)/jvp(a/b)/dot:" into jit(f), jvp(a/b), dot. */

const OPENING = "([{";
const CLOSING = ")]}";

export function scopeParts(scope: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let begin = 0;
  for (let index = 0; index < scope.length; index++) {
    const letter = scope[index];
    if (OPENING.includes(letter)) depth++;
    else if (CLOSING.includes(letter)) depth = Math.max(depth - 1, 0);
    else if (letter === "/" && depth === 0) {
      parts.push(scope.slice(begin, index));
      begin = index + 1;
    }
  }
  const last = scope.slice(begin);
  const colon = last.lastIndexOf(":");
  parts.push(colon >= 0 ? last.slice(0, colon) : last);
  return parts.filter((part) => part !== "");
}
