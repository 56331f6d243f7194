/** "Typical steps | All steps": whether the page includes outliers. */
import { formatCount, plural } from "../../base/format";
import { SmallButton } from "../../widgets/controls/buttons";
import type { StepAxis } from "../../widgets/step_chart/steps";
import type { Select } from "../tool";

interface StepChoiceProps {
  readonly steps: StepAxis;
  /** The `steps` of the address. */
  readonly chosen: string | undefined;
  readonly select: Select;
}

const ALL_STEPS = "all";

/** Renders nothing if all steps are typical. */
export function StepChoice({ steps, chosen, select }: StepChoiceProps) {
  const slow = steps.outliers?.filter((reason) => reason !== "").length ?? 0;
  const whole = steps.isTruncated.filter(
    (isTruncated, step) => !isTruncated && !steps.isUnrecorded?.[step],
  ).length;
  if (slow === 0) return null;
  const isAll = chosen === ALL_STEPS;
  const text = `${plural(slow, "step")} of ${formatCount(whole)} ${slow === 1 ? "takes" : "take"} much longer than the others`;
  return (
    <fieldset class="step-choice" title={text}>
      <legend class="unseen">Steps on this page: {text}</legend>
      <SmallButton aria-pressed={!isAll} onClick={() => select({ steps: null })}>
        Typical steps ({formatCount(whole - slow)})
      </SmallButton>
      <SmallButton aria-pressed={isAll} onClick={() => select({ steps: ALL_STEPS })}>
        All steps ({formatCount(whole)})
      </SmallButton>
    </fieldset>
  );
}
