/** A name in one line, truncated in the middle; complete on hover and when copied. */
const TAIL = 18;
const SHORT = 2 * TAIL;
const MAX_TITLE = 2000;

export function Name({ text, full = text }: { text: string; full?: string }) {
  const title = full.length > MAX_TITLE ? `${full.slice(0, MAX_TITLE)}…` : full;
  const tail = tailLength(text);
  return (
    <span class="name" title={title}>
      <span class="name-head">{text.slice(0, text.length - tail)}</span>
      {tail > 0 ? (
        <span class="name-tail">
          <bdi dir="ltr">{text.slice(-tail)}</bdi>
        </span>
      ) : null}
    </span>
  );
}

/**
 * How many characters at a name's end are kept when it is truncated: of paths, the last parts that
 * fit, as "Map" of "Iterator::Root::Map"; of other short names, none.
 */
export function tailLength(text: string): number {
  const from = Math.max(text.length - TAIL - 2, 0);
  for (const { 0: separator, index } of text.slice(from).matchAll(/::|\//g)) {
    const rest = text.length - (from + index + separator.length);
    if (rest > 0 && rest <= TAIL) return rest;
  }
  return text.length > SHORT ? TAIL : 0;
}
