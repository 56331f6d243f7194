/** Targets in the trace viewer for steps of the pod. */
import type { LinkTarget } from "../../links/tool_link";
import { stepTimes } from "../../links/trace_links";
import type { Pod } from "../payload";
import { largestAt, type StepCells } from "./step_cells";

/** The step on its slowest worker, since workers may run it at different times. */
export function stepPlace(pod: Pod, cells: StepCells): LinkTarget {
  const slowest = largestAt(cells.total);
  return workerPlace(pod, cells, cells.worker[slowest] ?? -1);
}

/** The step on the worker's host only, since clocks of hosts may differ. */
export function workerPlace(pod: Pod, cells: StepCells, worker: number): LinkTarget {
  const { steps, workers, hosts } = pod;
  const row = cells.worker.indexOf(worker);
  const [start, total] = [cells.start, cells.total].map((times) => times[row] ?? Number.NaN);
  const view = stepTimes(steps.labels[cells.step], start, total);
  const host = hosts[workers.host[worker]] ?? "";
  return host === "" ? { view } : { view, hosts: [host] };
}
