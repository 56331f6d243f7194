/** One step on all workers: first rounded, from the pod's payload, then exact. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { PayloadError } from "../../../api/errors";
import { flag, isRecord, list } from "../../../api/json";
import type { Ask } from "../../tool";
import { COLLECTIVES, cellOf, type Pod } from "../payload";

/** Rows are the workers that have the step, in order. */
export interface StepCells {
  readonly step: number;
  readonly worker: Int32Array;
  /** [rows] µs. */
  readonly total: Float64Array;
  /** [rows] µs since the start of the host's trace; NaN until the exact values are loaded. */
  readonly start: Float64Array;
  /** One per phase of the pod: [rows] µs. */
  readonly phases: readonly Float64Array[];
  /** [rows] index into the phases; -1 for none. */
  readonly bottleneck: Int32Array;
  readonly isTruncated: readonly boolean[];
  readonly isExact: boolean;
}

/** Steps that are passed faster are not requested. */
const PAUSE_MS = 150;

export function useStepCells(
  pod: Pod,
  step: number,
  ask: Ask,
): { readonly cells: StepCells; readonly error: string } {
  const exact = useRef({ pod, known: new Map<number, StepCells>() });
  if (exact.current.pod !== pod) exact.current = { pod, known: new Map() };
  const { known } = exact.current;
  const [, bump] = useState(0);
  const [error, setError] = useState("");
  useEffect(() => {
    setError("");
    if (known.has(step) || step < 0) return;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const json = await ask({ step: String(step) }, abort.signal);
        known.set(step, parseStepCells(json, pod, step));
        bump((count) => count + 1);
      } catch (thrown) {
        if (!abort.signal.aborted)
          setError(thrown instanceof Error ? thrown.message : String(thrown));
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [known, step, ask]);
  const rounded = useMemo(() => roundedCells(pod, step), [pod, step]);
  return { cells: known.get(step) ?? rounded, error };
}

/** From the pod's payload: times rounded to about 0.1 % of the step. */
export function roundedCells(pod: Pod, step: number): StepCells {
  const rows: number[] = [];
  for (let worker = 0; worker < pod.workers.count; worker++) {
    if (pod.total[cellOf(pod, worker, step)] >= 0) rows.push(worker);
  }
  const total = Float64Array.from(rows, (worker) => pod.total[cellOf(pod, worker, step)]);
  const phases = pod.phases.map(({ permille }) =>
    Float64Array.from(rows, (worker, row) => {
      const share = permille[cellOf(pod, worker, step)];
      return (Math.max(share, 0) / 1000) * total[row];
    }),
  );
  return {
    step,
    worker: Int32Array.from(rows),
    total,
    start: new Float64Array(rows.length).fill(Number.NaN),
    phases,
    bottleneck: largest(phases, rows.length),
    isTruncated: rows.map(() => pod.steps.isTruncated[step] === true),
    isExact: false,
  };
}

/** Throws PayloadError. */
export function parseStepCells(json: unknown, pod: Pod, step: number): StepCells {
  if (!isRecord(json) || json.step !== step || !isRecord(json.event_us))
    throw new PayloadError("the response is not for the requested step");
  const worker = Int32Array.from(numbers(json.worker));
  const times = json.event_us;
  const phases = pod.phases.map(({ id }) => Float64Array.from(numbers(times[id])));
  const total = Float64Array.from(numbers(json.total_us));
  const start = Float64Array.from(numbers(json.start_ms), (time) => time * 1000);
  const flags = list(json.is_truncated);
  if ([total, start, ...phases].some((values) => values.length !== worker.length))
    throw new PayloadError("the columns of a step differ in length");
  const ids = numbers(json.bottleneck);
  return {
    step,
    worker,
    total,
    start,
    phases,
    bottleneck: Int32Array.from(ids, (id) => pod.phases.findIndex((phase) => phase.id === id)),
    isTruncated: Array.from(worker, (_, row) => flag(flags[row])),
    isExact: true,
  };
}

/**
 * [rows] Step times without collectives, in µs: early workers wait for late ones in collectives,
 * which makes step times alike. NaN for SparseCores, which are not compared with TensorCores.
 */
export function ownTimes({ phases, workers }: Pod, cells: StepCells): Float64Array {
  const index = phases.findIndex(({ label }) => label === COLLECTIVES);
  return cells.total.map((total, row) =>
    workers.isAside[cells.worker[row]] ? Number.NaN : total - (cells.phases[index]?.[row] ?? 0),
  );
}

/** The index of the largest value; -1 without values. */
export function largestAt(values: Float64Array): number {
  let most = -1;
  for (let row = 0; row < values.length; row++) {
    if (!Number.isNaN(values[row]) && (most < 0 || values[row] > values[most])) most = row;
  }
  return most;
}

/** The median, for an even number of values the lower middle one; NaN without values. */
export function median(values: Float64Array): number {
  const known = values.filter((value) => !Number.isNaN(value)).sort();
  return known[(known.length - 1) >> 1] ?? Number.NaN;
}

function largest(phases: readonly Float64Array[], rows: number): Int32Array {
  return Int32Array.from({ length: rows }, (_, row) => {
    let most = -1;
    phases.forEach((values, index) => {
      if (values[row] > (most < 0 ? 0 : phases[most][row])) most = index;
    });
    return most;
  });
}

function numbers(value: unknown): readonly number[] {
  if (!Array.isArray(value)) throw new PayloadError("a column is not a list");
  return value as number[];
}
