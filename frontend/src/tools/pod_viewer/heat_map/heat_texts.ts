/** Texts for values of the heat map. */
import { formatRatio, formatTime, NOT_MEASURED } from "../../../base/format";
import { microseconds, ratio } from "../../../base/units";
import type { Measure } from "../measures";
import { cellOf, type Pod } from "../payload";
import type { HeatSpot } from "./heat_plan";

export function writeValue(value: number, { quantity }: Measure): string {
  if (Number.isNaN(value)) return NOT_MEASURED;
  return quantity === "time" ? formatTime(microseconds(value)) : formatRatio(ratio(value / 100));
}

/** Why a cell has no value. */
export function absence(pod: Pod, { worker, step }: HeatSpot): string {
  return pod.unrecorded.has(cellOf(pod, worker, step)) ? "not recorded" : "no such step";
}

export function spotText(pod: Pod, spot: HeatSpot, measure: Measure, values: Float32Array): string {
  const value = values[cellOf(pod, spot.worker, spot.step)];
  const written = Number.isNaN(value) ? absence(pod, spot) : writeValue(value, measure);
  const note = pod.steps.isTruncated[spot.step] ? ", not fully recorded" : "";
  return `${pod.workers.titles[spot.worker]}, step ${pod.steps.labels[spot.step]}: ${written}${note}`;
}
