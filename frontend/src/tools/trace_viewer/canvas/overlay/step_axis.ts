/** The second line of the time axis: times since the start of each step. */

import type { TextFit } from "../../../../widgets/canvas/text_fit";
import { formatInstant } from "../../model/time";
import type { Span } from "../../model/types";
import type { StepInView } from "../../scene/steps_in_view";
import { timeAxis } from "./time_axis";

/** A label of the line, in CSS pixels from the left edge of the canvas. */
interface AxisText {
  readonly x: number;
  readonly text: string;
  /** The name of a step, at its start. */
  readonly isName: boolean;
}

/** CSS pixels; a narrower step is a line without a label. */
const LEAST_NAMED = 36;
const INSET = 4;
const GAP = 8;

/**
 * The name of each step at its start, or at the left edge if it began before, followed by round
 * times since its start until the next step. Labels do not overlap.
 */
export function stepTexts(
  steps: readonly StepInView[],
  view: Span,
  width: number,
  fit: Pick<TextFit, "fit" | "width">,
): readonly AxisText[] {
  const perPs = width / (view.to - view.from);
  const toX = (ps: number) => (ps - view.from) * perPs;
  return steps.flatMap((step, index) => {
    const next = steps[index + 1]?.from ?? step.to;
    const from = Math.max(step.from, view.from);
    const to = Math.min(Math.max(next, step.to), view.to);
    const [left, right] = [toX(from), toX(to)];
    if (right - left < LEAST_NAMED) return [];
    const { ticks, origin } = timeAxis({ from, to }, right - left, step.from);
    const called = /^\d+$/.test(step.name) ? `step ${step.name}` : step.name;
    const name = origin === "" ? called : `${called} + ${origin}`;
    const shown = fit.fit(name, right - left - INSET);
    let free = left + INSET + (shown === "" ? 0 : fit.width(shown) + GAP);
    const texts = ticks.flatMap(({ ps, text }): AxisText[] => {
      const x = Math.round(toX(ps)) + INSET;
      const end = x + fit.width(text);
      if (x < free || end > right || ps <= step.from) return [];
      free = end + GAP;
      return [{ x, text, isName: false }];
    });
    return shown === ""
      ? texts
      : [{ x: Math.round(left) + INSET, text: shown, isName: true }, ...texts];
  });
}

/** The time at the pointer since the start of its step; "" outside of steps. */
export function timeInStep(steps: readonly StepInView[], ps: number, roundingPs: number): string {
  const step = steps.findLast(({ from }) => from <= ps);
  const isWithin = step && (ps < step.to || step !== steps.at(-1));
  return isWithin ? formatInstant(ps - step.from, roundingPs) : "";
}
