/** A name in one line, cut in the middle, whole to copy and on hover. */
const TAIL = 18;
const SHORT = 2 * TAIL;
const MAX_TITLE = 2000;

export function Name({ text, full = text }: { text: string; full?: string }) {
  const title = full.length > MAX_TITLE ? `${full.slice(0, MAX_TITLE)}…` : full;
  if (text.length <= SHORT) {
    return (
      <span class="name" title={title}>
        <span class="name-head">{text}</span>
      </span>
    );
  }
  return (
    <span class="name" title={title}>
      <span class="name-head">{text.slice(0, -TAIL)}</span>
      <span class="name-tail">
        <bdi dir="ltr">{text.slice(-TAIL)}</bdi>
      </span>
    </span>
  );
}
