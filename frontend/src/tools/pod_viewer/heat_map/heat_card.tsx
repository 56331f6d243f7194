/** The card of the cell under the pointer. */
import { formatCount, formatTime } from "../../../base/format";
import { microseconds } from "../../../base/units";
import { stepName, stepNotes } from "../../../widgets/step_chart/steps";
import type { Measure } from "../measures";
import { cellOf, type Pod } from "../payload";
import { type HeatPlan, type HeatSpot, placeOf } from "./heat_plan";
import { absence, writeValue } from "./heat_texts";

interface HeatCardProps {
  readonly pod: Pod;
  readonly measure: Measure;
  readonly value: number;
  readonly plan: HeatPlan;
  readonly left: number;
  readonly spot: HeatSpot;
}

const CARD_WIDTH = 260;

export function HeatCard({ pod, measure, value, plan, left, spot }: HeatCardProps) {
  const place = placeOf(plan, spot);
  const right = left + place.left + plan.columnWidth + 10;
  const isFitting = right + CARD_WIDTH <= left + plan.width || place.left < CARD_WIDTH + 20;
  const count = plan.workersPerRow * plan.stepsPerColumn;
  const total = pod.total[cellOf(pod, spot.worker, spot.step)];
  return (
    <div
      class="step-card"
      aria-hidden="true"
      style={{
        left: `${isFitting ? right : left + place.left - CARD_WIDTH - 10}px`,
        top: `${place.top > plan.height / 2 ? Math.max(place.top - 110, 0) : place.top + plan.rowHeight + 6}px`,
        width: `${CARD_WIDTH}px`,
      }}
    >
      <div class="step-card-head">
        <b class="cut">{pod.workers.titles[spot.worker].slice(0, 200)}</b>
      </div>
      <table>
        <tbody>
          <tr>
            <td>{stepName(pod.steps, spot.step)}</td>
            <td>{Number.isNaN(total) ? absence(pod, spot) : formatTime(microseconds(total))}</td>
          </tr>
          {measure.id === "time" ? null : (
            <tr>
              <td>{measure.label}</td>
              <td>{writeValue(value, measure)}</td>
            </tr>
          )}
        </tbody>
      </table>
      {stepNotes(pod.steps, spot.step).map((note) => (
        <p class="muted" key={note}>
          {note}
        </p>
      ))}
      <p class="muted">
        {count > 1 ? `The largest of up to ${formatCount(count)} cells here. ` : ""}Clicking chooses
        this step and worker.
      </p>
    </div>
  );
}
