/** Marks over the heat map for the chosen cells and the cursor. */
import type { Signal } from "@preact/signals";
import { type HeatPlan, type HeatSpot, placeOf } from "./heat_plan";

interface MarksProps {
  readonly plan: HeatPlan;
  readonly left: number;
  readonly step: number;
  readonly worker: number | null;
  readonly cursor: Signal<HeatSpot | null>;
}

const FRAMED = 6;
const TICK = 8;

/** The chosen step and worker as frames, the cursor as a cross. */
export function Marks({ plan, left, step, worker, cursor }: MarksProps) {
  const column = (at: number) => ({
    left: `${left + placeOf(plan, { worker: 0, step: at }).left}px`,
    width: `${Math.max(plan.columnWidth, 2)}px`,
    height: `${plan.height}px`,
  });
  const row = (at: number) => ({
    left: `${left}px`,
    top: `${placeOf(plan, { worker: at, step: 0 }).top}px`,
    width: `${plan.width}px`,
    height: `${Math.max(plan.rowHeight, 2)}px`,
  });
  const spot = cursor.value;
  return (
    <div aria-hidden="true">
      <div class="pod-mark" style={column(step)} />
      {worker === null ? null : plan.rowHeight >= FRAMED ? (
        <div class="pod-mark" style={row(worker)} />
      ) : (
        // A frame would hide a row of a few pixels.
        [left - TICK, left + plan.width].map((x) => (
          <div
            key={x}
            class="pod-tick"
            style={{ left: `${x}px`, top: `${placeOf(plan, { worker, step: 0 }).top - 2}px` }}
          />
        ))
      )}
      {spot ? (
        <>
          <div class="pod-cross" style={column(spot.step)} />
          <div class="pod-cross" style={row(spot.worker)} />
        </>
      ) : null}
    </div>
  );
}
