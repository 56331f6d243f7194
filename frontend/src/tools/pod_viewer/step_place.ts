/** Where in the trace viewer steps of the pod are. */
import type { View } from "../../base/url_state";
import { stepTimes } from "../trace_links";
import { cellOf, type Pod } from "./payload";

export interface Place {
  readonly view: View;
  /** Those that matter; undefined: those that are chosen. */
  readonly hosts?: readonly string[];
}

/** The step until its slowest worker is done. */
export function stepPlace(pod: Pod, step: number, slowest: Float64Array): Place {
  return {
    view: stepTimes(pod.steps.labels[step], pod.steps.start[step], slowest[step], pod.hosts.length),
  };
}

/** The step on the worker's host, as the times of several hosts may not compare. */
export function workerPlace(pod: Pod, step: number, worker: number): Place {
  const { steps, workers, hosts } = pod;
  const total = pod.total[cellOf(pod, worker, step)];
  const view = stepTimes(steps.labels[step], steps.start[step], total, hosts.length);
  const host = hosts[workers.host[worker]] ?? "";
  return host === "" ? { view } : { view, hosts: [host] };
}
