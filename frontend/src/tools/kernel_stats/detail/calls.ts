/** Statistics of one kernel's launches, from the server; times in µs, NaN if unknown. */
import { count, fields, flag, number, numbers, record, records, text } from "../../../api/json";
import type { Ask } from "../../tool";

/** Statistics over the launches for which the time is known. */
export type CallTimes = Readonly<ReturnType<typeof parseTimes>>;

export interface Histogram {
  readonly isLogarithmic: boolean;
  /** [bins + 1] */
  readonly edges: Float64Array;
  readonly counts: Float64Array;
}

export type KernelCalls = Readonly<ReturnType<typeof parseCalls>>;

/** Selects rows of the kernel table; fields that are left out match anything. */
export interface CallsOf {
  readonly kernel: string;
  readonly op?: string;
  readonly launch?: string;
  readonly eligible?: string;
  readonly use?: string;
  readonly copy?: string;
}

const PS_PER_US = 1e6;

export async function fetchCalls(ask: Ask, of: CallsOf, signal: AbortSignal): Promise<KernelCalls> {
  return parseCalls(await ask({ ...of }, signal, "kernel_calls"));
}

/** Throws PayloadError. */
export function parseCalls(json: unknown) {
  const all = record(json, "the kernel's statistics");
  const histogram = fields(all.histogram);
  const unlinked = fields(all.unlinked);
  return {
    duration: parseTimes(all.durations),
    deviation: micros(fields(all.durations).deviation_ps),
    histogram: {
      isLogarithmic: flag(histogram.is_logarithmic),
      edges: numbers(histogram.edges_ps).map((edge) => edge / PS_PER_US),
      counts: numbers(histogram.calls),
    },
    idle: parseTimes(all.idle),
    pause: parseTimes(all.pause),
    latency: parseTimes(all.latency),
    queue: parseTimes(all.queue),
    /** The numbers of launches with unknown latency, by reason. */
    unlinked: {
      noId: count(unlinked.no_id),
      noLaunch: count(unlinked.no_launch),
      early: count(unlinked.early),
      follows: count(unlinked.follows),
    },
    streams: records(all.streams).map((stream) => ({
      host: text(stream.host),
      device: text(stream.device),
      stream: text(stream.stream),
      calls: count(stream.calls),
      median: micros(stream.median_ps),
      /** The sum. */
      idle: micros(stream.idle_ps),
    })),
  };
}

function parseTimes(json: unknown) {
  const times = fields(json);
  return {
    calls: count(times.calls),
    median: micros(times.median_ps),
    percentile95: micros(times.percentile_95_ps),
    total: micros(times.total_ps),
  };
}

function micros(ps: unknown): number {
  return number(ps) / PS_PER_US;
}

/** Sentences that say why some launches have no latency. */
export function unlinkedReasons({ unlinked, duration }: KernelCalls): string[] {
  const { noId, noLaunch, early, follows } = unlinked;
  if (noId === duration.calls && noId > 0)
    return ["Launch latency is not recorded: kernels have no correlation ids."];
  if (noLaunch === duration.calls && noLaunch > 0)
    return ["Launch latency is not recorded: the host's launches are not in the trace."];
  const reasons: [number, string][] = [
    [noId, "no correlation id"],
    [noLaunch, "no recorded launch on the host"],
    [early, "a start before the launch: the clocks of host and GPU differ"],
    [follows, "a start after another kernel or copy of the same launch, such as a CUDA graph"],
  ];
  return reasons
    .filter(([calls]) => calls > 0)
    .map(
      ([calls, why]) => `Not in the launch latency: ${calls.toLocaleString("en-US")} with ${why}.`,
    );
}
