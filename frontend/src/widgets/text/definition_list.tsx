/** A definition list in columns. */
import { NOT_MEASURED } from "../../base/format";
import { Explained } from "../overlays/why";
import type { Explanation } from "../table/columns";

export interface Definition {
  readonly id: string;
  readonly label: string;
  /** null: not measured. */
  readonly value: string | null;
  /** Beside the value. */
  readonly note?: string;
  /** Why there is no value. */
  readonly reason?: string;
  readonly explanation?: Explanation;
}

export function DefinitionList({ items }: { items: readonly Definition[] }) {
  return (
    <dl class="definitions">
      {items.map(({ id, label, value, note, reason, explanation }) => (
        <div key={id}>
          <dt>{explanation ? <Explained label={label} explanation={explanation} /> : label}</dt>
          <dd>
            {value === null ? <NotMeasured reason={reason} /> : value}
            {note ? <span class="muted definition-note">{note}</span> : null}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A dash with the reason. */
export function NotMeasured({ reason }: { reason?: string }) {
  return (
    <span title={reason || "Not measured"}>
      {NOT_MEASURED}
      <span class="muted definition-note">{reason || "not measured"}</span>
    </span>
  );
}
