/** A card for the step under the cursor: each part with its time and share. */
import { formatRatio, formatTime, NOT_MEASURED } from "../../base/format";
import { microseconds, ratio } from "../../base/units";
import type { Spot } from "./plot";
import {
  type Drawing,
  readingScale,
  type StepAxis,
  type StepSeries,
  stepName,
  stepNotes,
} from "./steps";

interface StepCardProps {
  readonly steps: StepAxis;
  readonly series: readonly StepSeries[];
  readonly hidden: ReadonlySet<string>;
  readonly step: number;
  readonly spot: Spot;
  readonly quantity: "time" | "percent";
  readonly drawing: Drawing;
  readonly openText?: string;
}

const CARD_WIDTH = 350;
const NOT_RECORDED =
  "Not recorded: the trace contains no device activity for this step, and averages exclude it.";
const GAP = 10;

export function StepCard(props: StepCardProps) {
  const { steps, series, hidden, step, spot, quantity, drawing } = props;
  const total = series.reduce((sum, { values }) => sum + (values[step] || 0), 0);
  const most = Math.max(
    total,
    ...series.map(({ values, high }) => high?.[step] || values[step] || 0),
  );
  const scale = readingScale(drawing === "stack" ? total : most, quantity);
  const write = (value: number | undefined) =>
    value === undefined || Number.isNaN(value)
      ? NOT_MEASURED
      : `${scale.format(value)} ${scale.unit}`;
  const isUnrecorded = steps.isUnrecorded?.[step] ?? false;
  const right = spot.left + spot.width + GAP;
  const left = right + CARD_WIDTH <= spot.total ? right : spot.left - GAP - CARD_WIDTH;
  return (
    <div
      class="step-card"
      style={{ left: `${Math.max(left, 0)}px`, width: `${CARD_WIDTH}px` }}
      aria-hidden="true"
    >
      <div class="step-card-head">
        <b>{stepName(steps, step)}</b>
        {drawing === "stack" && !isUnrecorded ? <b>{write(total)}</b> : null}
      </div>
      <table>
        <tbody>
          {(isUnrecorded ? [] : series.toReversed()).map(
            ({ id, label, color, values, low, high }) => (
              <tr key={id} class={hidden.has(id) ? "faded" : ""}>
                <td>
                  <span class="swatch" style={{ background: color }} />
                  {label}
                </td>
                <td>
                  {write(values[step])}
                  {low && high ? (
                    <span class="muted">
                      {" "}
                      {low[step] < high[step] ? `${write(low[step])} to ${write(high[step])}` : ""}
                    </span>
                  ) : null}
                </td>
                {drawing === "stack" ? (
                  <td>{total > 0 ? formatRatio(ratio((values[step] || 0) / total)) : ""}</td>
                ) : null}
              </tr>
            ),
          )}
        </tbody>
      </table>
      {isUnrecorded ? <p>{NOT_RECORDED}</p> : null}
      {stepNotes(steps, step).map((note) => (
        <p class="muted" key={note}>
          {note}
        </p>
      ))}
      {props.openText ? <p class="muted">Clicking {props.openText}.</p> : null}
    </div>
  );
}

/** A step in words, for screen readers. */
export function stepText(
  steps: StepAxis,
  series: readonly StepSeries[],
  step: number | null,
  { quantity, drawing }: { quantity: "time" | "percent"; drawing?: Drawing },
): string {
  if (step === null) return "no step";
  if (steps.isUnrecorded?.[step]) return `${stepName(steps, step)}, not recorded`;
  const total = series.reduce((sum, { values }) => sum + (values[step] || 0), 0);
  const parts = series
    .filter(({ values }) => values[step] > 0)
    .map(({ label, values }) => `${label} ${formatValue(values[step], quantity)}`);
  const name = stepName(steps, step);
  const reason = steps.outliers?.[step] ?? "";
  const note = [
    ...(steps.isTruncated[step] ? ["not fully recorded"] : []),
    ...(reason === "" ? [] : [`outlier: ${reason}`]),
  ];
  const sum = drawing === "line" ? [] : [formatValue(total, quantity)];
  return [name, ...sum, ...parts, ...note].join(", ");
}

export function formatValue(value: number | undefined, quantity: "time" | "percent"): string {
  if (value === undefined || Number.isNaN(value)) return NOT_MEASURED;
  return quantity === "time" ? formatTime(microseconds(value)) : formatRatio(ratio(value / 100));
}
