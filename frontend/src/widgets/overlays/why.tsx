/** "How is this computed?": formula, unit and source of one figure. */
import type { Explanation } from "../table/columns";
import { Popover } from "./popover";

interface WhyProps {
  readonly title: string;
  readonly explanation: Explanation;
}

/** A "?" button beside a title that is itself a button. */
export function Why({ title, explanation }: WhyProps) {
  return (
    <Popover
      label="?"
      buttonClass="why"
      title={`How is “${title}” computed?`}
      panelLabel={`How “${title}” is computed`}
      width={360}
    >
      {() => <WhyText title={title} explanation={explanation} />}
    </Popover>
  );
}

/** A label that opens its explanation; `title` if the explanation has a different one. */
export function Explained({ label, title = label, explanation }: ExplainedProps) {
  return (
    <Popover
      label={label}
      buttonClass="bare explained"
      note="How is this computed?"
      panelLabel={`How “${title}” is computed`}
      width={360}
    >
      {() => <WhyText title={title} explanation={explanation} />}
    </Popover>
  );
}

interface ExplainedProps {
  readonly label: string;
  readonly title?: string;
  readonly explanation: Explanation;
}

function WhyText({ title, explanation }: WhyProps) {
  return (
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
  );
}
