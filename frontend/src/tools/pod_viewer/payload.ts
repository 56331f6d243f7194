/** Every step of every worker: the compact payload of pod_viewer. Contract: docs/http_api.md. */
import { PayloadError } from "../../api/errors";
import {
  checkLength,
  fields,
  flag,
  isRecord,
  type Json,
  list,
  number,
  records,
} from "../../api/json";
import { type Microseconds, microseconds } from "../../base/units";
import type { StepAxis } from "../../widgets/step_chart/steps";
import type { Marker } from "../steps/markers";
import { phaseColor } from "../steps/phases";
import { shortNames } from "./short_names";

export type Pod = Readonly<ReturnType<typeof parsePod>>;

export interface PodSteps extends StepAxis {
  readonly count: number;
  /** When the first worker began, since the start of the trace; NaN if unknown. */
  readonly start: readonly Microseconds[];
}

type PodWorkers = Readonly<ReturnType<typeof parseWorkers>>;

interface PodPhase {
  readonly id: number;
  readonly label: string;
  readonly color: string;
  /** [workers × steps] Thousandths of the step time; -1 if the worker does not have the step. */
  readonly permille: Int16Array;
}

/** How much longer a worker took than another one, over the steps of both. */
export type Lateness = Readonly<NonNullable<ReturnType<typeof parseLateness>>>;

/** The label of the phase in which workers wait for each other. */
export const COLLECTIVES = "Device collectives";

/** Throws PayloadError. */
export function parsePod(json: unknown) {
  if (!isRecord(json) || !isRecord(json.steps) || !isRecord(json.workers))
    throw new PayloadError("the pod has no steps and workers");
  const steps = parseSteps(json.steps);
  const hosts = list(json.hosts).map(String);
  const workers = parseWorkers(json.workers, hosts);
  const cells = steps.count * workers.count;
  const unit = number(json.unit_us);
  const total = new Float32Array(checkLength(list(json.total) as readonly number[], cells));
  // A loop: pods have millions of cells.
  for (let cell = 0; cell < cells; cell++)
    total[cell] = total[cell] >= 0 ? total[cell] * unit : Number.NaN;
  const names = new Map(
    list(json.events)
      .map(fields)
      .map(({ id, name }) => [number(id), shortName(String(name ?? ""))]),
  );
  const shares = fields(json.share_permille);
  const phases = [...names].flatMap(([id, label]): PodPhase[] =>
    shares[id] === undefined
      ? []
      : [
          {
            id,
            label,
            color: phaseColor(label),
            permille: new Int16Array(checkLength(list(shares[id]) as readonly number[], cells)),
          },
        ],
  );
  return {
    steps,
    workers,
    hosts,
    /** The phases that occur, the bottom of the stack first. */
    phases,
    /** [workers × steps] µs, worker by worker; NaN if the worker does not have the step. */
    total,
    /** Cells of `total` without any recorded activity of the worker. */
    unrecorded: new Set(list(json.unrecorded).map(number)),
    /** Workers that others wait for, the latest first. */
    stragglers: list(json.stragglers).flatMap((item) => parseLateness(item, workers, names) ?? []),
    /** Without stragglers, the largest difference between workers; null if none can be compared. */
    compared: parseLateness(json.compared, workers, names),
    /** Why no straggler is reported: `no_straggler` in docs/http_api.md. */
    noStraggler: String(json.no_straggler ?? ""),
    markers: parseMarkers(json.markers, json.step_marker),
    diagnostics: records(json.diagnostics).map(({ severity, message }) => ({
      severity: String(severity),
      message: String(message),
    })),
    /** Properties about the step marker, as those of a step table. */
    property: (name: string) => {
      const value = json[name];
      return value === undefined || value === null ? "" : String(value);
    },
  };
}

/** null if it refers to an unknown worker. */
function parseLateness(json: unknown, workers: PodWorkers, phases: ReadonlyMap<number, string>) {
  if (!isRecord(json)) return null;
  const [worker, reference] = [number(json.worker), number(json.reference)];
  if (workers.names[worker] === undefined || workers.names[reference] === undefined) return null;
  const played = (device: unknown) => (typeof device === "number" ? `CPU device ${device}` : "");
  return {
    worker,
    /** "GPU:6", or "CPU device 2" for a virtual device of the CPU. */
    name: played(json.device) || workers.names[worker],
    /** The same with its host, if there are several hosts. */
    title: played(json.device) || workers.titles[worker],
    /** The title of the worker that it is compared with. */
    reference: played(json.reference_device) || workers.titles[reference],
    /** The mean over the steps and its 95 % confidence interval; NaN for a single step. */
    late: microseconds(number(json.late_us)),
    low: microseconds(number(json.low_us)),
    high: microseconds(number(json.high_us)),
    /** How much longer the other worker waited meanwhile. */
    wait: microseconds(number(json.wait_us)),
    /** 0–1 of the average step. */
    share: number(json.share),
    /** The phase in which the time is lost; "" if unknown. */
    phase: phases.get(number(json.event)) ?? "",
    /** The number of compared `steps` in which no worker took longer. */
    lastSteps: number(json.last_steps),
    steps: number(json.steps),
  };
}

/** The index of a worker's step in `total`. */
export function cellOf({ steps }: Pod, worker: number, step: number): number {
  return worker * steps.count + step;
}

function parseSteps(json: Json): PodSteps {
  const labels = list(json.label).map(String);
  const flags = list(json.is_truncated);
  const reasons = list(json.outlier_cause);
  const start = list(json.start_ms);
  return {
    count: labels.length,
    labels,
    isTruncated: labels.map((_, step) => flag(flags[step])),
    outliers: labels.map((_, step) => String(reasons[step] ?? "")),
    start: labels.map((_, step) => microseconds(number(start[step]) * 1000)),
  };
}

function parseWorkers(json: Json, hosts: readonly string[]) {
  const names = list(json.name).map(String);
  const host = Int32Array.from(checkLength(list(json.host) as readonly number[], names.length));
  const shortHosts = shortNames(hosts);
  const [chip, core, replica] = [json.chip_id, json.node_id, json.replica_id].map(list);
  const isSparse = names.map((_, index) => list(json.kind)[index] === "SparseCore");
  const titled = (of: readonly string[]) =>
    names.map((name, index) => (hosts.length > 1 ? `${name} · ${of[host[index]] ?? ""}` : name));
  return {
    count: names.length,
    /** "TPU:3". */
    names,
    /** [count] index into the hosts. */
    host,
    /** [count] "Chip 3 of the pod · core 1 · replica 0", as far as the trace says; may be "". */
    places: names.map((_, index) => placeText(chip[index], core[index], replica[index])),
    /** [count] Whether it is a SparseCore besides TensorCores, which do other work. */
    isAside: isSparse.map((is) => is && isSparse.includes(false)),
    /** The names, with hosts if there are several. */
    titles: titled(hosts),
    /** Hosts and titles without the common parts of all hosts, for axes. */
    shortHosts,
    shortTitles: titled(shortHosts),
  };
}

/** The position in the pod; the trace viewer numbers the chips of each host instead. */
function placeText(chip: unknown, core: unknown, replica: unknown): string {
  const text = [
    ...(typeof chip === "number" ? [`chip ${chip} of the pod`] : []),
    ...(typeof core === "number" ? [`core ${core}`] : []),
    ...(typeof replica === "number" ? [`replica ${replica}`] : []),
  ].join(" · ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function parseMarkers(json: unknown, current: unknown): Marker[] {
  const columns = fields(json);
  const [lines, counts, medians] = [columns.line, columns.count, columns.median_ms].map(list);
  return list(columns.name).map((name, index) => ({
    name: String(name),
    line: String(lines[index] ?? ""),
    count: number(counts[index]),
    medianMs: number(medians[index]),
    isCurrent: name === current,
  }));
}

/** A shorter label for narrow places. */
function shortName(name: string): string {
  return name === "Device collective communication" ? COLLECTIVES : name;
}
