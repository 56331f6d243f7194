/** A list of key bindings. */
import type { Binding } from "../../base/keys";

const NAMES: Readonly<Record<string, string>> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  PageUp: "Page Up",
  PageDown: "Page Down",
  " ": "Space",
};

export function KeyList({ bindings }: { bindings: readonly Binding[] }) {
  return (
    <dl>
      {bindings.map((binding) => (
        <div key={binding.label}>
          <dt>
            {binding.keys.map((key) => (
              <kbd key={key}>{keyText(key)}</kbd>
            ))}
          </dt>
          <dd>{binding.label}</dd>
        </div>
      ))}
    </dl>
  );
}

function keyText(key: string): string {
  return key
    .split("+")
    .map((part) => NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part))
    .join(" ");
}
