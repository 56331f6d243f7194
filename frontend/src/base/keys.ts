/** Key bindings. Each binding is also listed in the help. */
import { signal } from "@preact/signals";

export interface Binding {
  /** As KeyboardEvent.key, with the prefix "Ctrl+" for Ctrl or ⌘. */
  readonly keys: readonly string[];
  readonly label: string;
  readonly section: string;
  readonly run: (event: KeyboardEvent) => void;
  /** Also active while a text field has the focus. */
  readonly inFields?: boolean;
}

/** All active sets of bindings, oldest first. */
export const boundKeys = signal<readonly (readonly Binding[])[]>([]);

/** Lists `bindings` in the help and, unless `isLocal`, activates them for the whole page. */
export function bindKeys(bindings: readonly Binding[], isLocal = false): () => void {
  boundKeys.value = [...boundKeys.peek(), bindings];
  const listener = (event: KeyboardEvent) => runKey(bindings, event);
  if (!isLocal) document.addEventListener("keydown", listener);
  return () => {
    boundKeys.value = boundKeys.peek().filter((candidate) => candidate !== bindings);
    document.removeEventListener("keydown", listener);
  };
}

/** Runs the binding for `event`, if any, and returns whether there was one. */
export function runKey(bindings: readonly Binding[], event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.altKey || event.isComposing) return false;
  const name = (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + keyName(event.key);
  const binding = bindings.find((candidate) => candidate.keys.some((key) => key === name));
  if (!binding || (isField(event.target) && !binding.inFields)) return false;
  if (!binding.inFields && document.querySelector("dialog[open]")) return false;
  event.preventDefault();
  binding.run(event);
  return true;
}

function keyName(key: string): string {
  return key.length === 1 ? key.toLowerCase() : key;
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  );
}
