/** The most important keys, shown when the page is opened for the first time. */
import { useState } from "preact/hooks";
import { SmallButton } from "../../../widgets/controls/buttons";

const STORED = "tbprof.trace.hint";

export function Hint() {
  const [isShown, show] = useState(() => readStored() === null);
  if (!isShown) return null;
  const close = () => {
    show(false);
    try {
      localStorage.setItem(STORED, "seen");
    } catch {
      // Frames may have no storage; the hint is then shown again next time.
    }
  };
  return (
    <aside class="trace-hint" aria-label="Keys">
      <span>
        <kbd>W</kbd> <kbd>S</kbd> zoom
      </span>
      <span>
        <kbd>A</kbd> <kbd>D</kbd> move
      </span>
      <span>
        <kbd>Ctrl</kbd> wheel zooms at the pointer
      </span>
      <span>click selects, drag marks a range</span>
      <span>
        <kbd>/</kbd> search
      </span>
      <span>
        <kbd>?</kbd> all keys
      </span>
      <SmallButton onClick={close}>Got it</SmallButton>
    </aside>
  );
}

function readStored(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}
