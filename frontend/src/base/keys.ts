/** The one table of keys: what binds them also lists them in the help. */
import { signal } from "@preact/signals";

export interface Binding {
  /** As KeyboardEvent.key; "Ctrl+" in front where Ctrl or ⌘ is held. */
  readonly keys: readonly string[];
  readonly label: string;
  readonly section: string;
  readonly run: (event: KeyboardEvent) => void;
  /** Works while a text field has the focus. */
  readonly inFields?: boolean;
}

/** Every set of bindings in force, in the order they came. */
export const boundKeys = signal<readonly (readonly Binding[])[]>([]);

/** Lists `bindings` in the help and, unless `isLocal`, runs them for the whole page. */
export function bindKeys(bindings: readonly Binding[], isLocal = false): () => void {
  boundKeys.value = [...boundKeys.peek(), bindings];
  const listener = (event: KeyboardEvent) => runKey(bindings, event);
  if (!isLocal) document.addEventListener("keydown", listener);
  return () => {
    boundKeys.value = boundKeys.peek().filter((candidate) => candidate !== bindings);
    document.removeEventListener("keydown", listener);
  };
}

/** Runs the binding that `event` is for; whether there was one. */
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
