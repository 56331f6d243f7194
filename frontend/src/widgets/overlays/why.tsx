/** "How is this computed?": formula, unit and source of one figure. */
import type { Explanation } from "../table/columns";
import { Popover } from "./popover";

export function Why({ title, explanation }: { title: string; explanation: Explanation }) {
  return (
    <Popover
      label="?"
      buttonClass="why"
      title={`How is “${title}” computed?`}
      panelLabel={`How “${title}” is computed`}
      width={360}
    >
      {() => (
        <div class="why-text">
          <h2>{title}</h2>
          <dl>
            <dt>Formula</dt>
            <dd>{explanation.formula}</dd>
            <dt>Unit</dt>
            <dd>{explanation.unit}</dd>
            <dt>Source</dt>
            <dd>{explanation.source}</dd>
          </dl>
        </div>
      )}
    </Popover>
  );
}
