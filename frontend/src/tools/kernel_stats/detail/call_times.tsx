/** Statistics of a kernel's launches: durations, gaps before them, launch latencies. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { pollProgress } from "../../../api/poll_progress";
import {
  columnScale,
  formatCount,
  NOT_MEASURED,
  plural,
  type Scale,
  sentenceCase,
} from "../../../base/format";
import { Explained } from "../../../widgets/overlays/why";
import type { Explanation } from "../../../widgets/table/columns";
import { ErrorMessage } from "../../../widgets/text/message";
import { TableHead } from "../../../widgets/text/table_head";
import type { Ask } from "../../tool";
import {
  type CallsOf,
  type CallTimes,
  fetchCalls,
  type KernelCalls,
  unlinkedReasons,
} from "./calls";
import { Histogram } from "./histogram";

interface CallTimesProps {
  readonly run: string;
  readonly ask: Ask;
  readonly of: CallsOf;
  /** Content above the table of streams. */
  readonly children?: ComponentChildren;
}

export function KernelCallTimes({ run, ask, of, children }: CallTimesProps) {
  const [calls, setCalls] = useState<KernelCalls | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  const [doing, setDoing] = useState("");
  useEffect(() => {
    const abort = new AbortController();
    setError(null);
    setCalls(null);
    setDoing("");
    const stop = pollProgress(run, "kernel_stats", ({ text }) => setDoing(text));
    fetchCalls(ask, of, abort.signal)
      .then(setCalls, (reason) => {
        if (!abort.signal.aborted) setError(reason);
      })
      .finally(stop);
    return () => {
      stop();
      abort.abort();
    };
  }, [ask, JSON.stringify(of), attempt]);
  return (
    <div class="kernel-detail">
      {error !== null ? (
        <ErrorMessage error={error} retry={() => setAttempt((count) => count + 1)} />
      ) : calls === null ? (
        <p class="muted" role="status">
          {sentenceCase(doing) || "Reading the launches…"}
        </p>
      ) : calls.duration.calls === 0 ? (
        <p class="muted">The trace contains no launches of this kernel.</p>
      ) : (
        <Times calls={calls} />
      )}
      <div>
        {children}
        {calls !== null && calls.streams.length > 1 ? <StreamTable calls={calls} /> : null}
      </div>
    </div>
  );
}

function Times({ calls }: { calls: KernelCalls }) {
  return (
    <>
      {calls.duration.calls > 1 ? <Histogram calls={calls} /> : null}
      <div>
        <TimeTable calls={calls} />
        {unlinkedReasons(calls).map((reason) => (
          <p key={reason} class="muted">
            {reason}
          </p>
        ))}
      </div>
    </>
  );
}

const GPU = "Kernels, copies and memsets on the GPU's streams.";
const LAUNCH = "Events of the host's threads and of the GPU with the same correlation id.";
const TIME = "time, in the unit of the header";

const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  Duration: {
    formula: "End − start of the kernel. σ above the histogram is the standard deviation",
    unit: TIME,
    source: GPU,
  },
  "GPU idle before": {
    formula:
      "Time before the kernel's start in which nothing ran on the GPU; 0 if something did. If kernels start together, only one of them has this time, so that the total counts it once",
    unit: TIME,
    source: `${GPU} Unknown for the first activity.`,
  },
  "Pause on its stream": {
    formula: "Start of the kernel − end of the previous activity on its stream",
    unit: TIME,
    source: `${GPU} Unknown for the first activity.`,
  },
  "Launch latency": {
    formula:
      "Start of the kernel − start of the call that launched it. Includes waiting for earlier work on the stream",
    unit: TIME,
    source: LAUNCH,
  },
  "Queue time": {
    formula:
      "Start of the kernel − end of the call that launched it; 0 if it starts before the call returns",
    unit: TIME,
    source: LAUNCH,
  },
};

function TimeTable({ calls }: { calls: KernelCalls }) {
  const rows: readonly (readonly [string, CallTimes, boolean])[] = [
    ["Duration", calls.duration, true],
    ["GPU idle before", calls.idle, true],
    ["Pause on its stream", calls.pause, true],
    ["Launch latency", calls.latency, false],
    ["Queue time", calls.queue, false],
  ];
  const isOne = calls.duration.calls === 1;
  const typical = scaleOf(rows.flatMap(([, times]) => [times.median, times.percentile95]));
  const totals = scaleOf(rows.flatMap(([, times, adds]) => (adds ? [times.total] : [])));
  return (
    <table class="kernel-table">
      <thead>
        <tr>
          <th />
          <th scope="col">
            {isOne ? "Time" : "Median"} ({typical.unit})
          </th>
          {isOne ? null : (
            <>
              <th scope="col" title="95 % of the launches take no longer">
                P95 ({typical.unit})
              </th>
              <th scope="col">Total ({totals.unit})</th>
              <th scope="col" title="Launches for which the value is known">
                Launches
              </th>
            </>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map(([title, times, adds]) => (
          <tr key={title}>
            <th scope="row">
              <Explained label={title} explanation={EXPLANATIONS[title]} />
            </th>
            <td>{write(times.median, typical)}</td>
            {isOne ? null : (
              <>
                <td>{write(times.percentile95, typical)}</td>
                <td>{adds ? write(times.total, totals) : ""}</td>
                <td>{formatCount(times.calls)}</td>
              </>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const STREAMS = 5;

function StreamTable({ calls }: { calls: KernelCalls }) {
  const streams = calls.streams.slice(0, STREAMS);
  const more = calls.streams.length - STREAMS;
  const hasHosts = calls.streams.some(({ host }) => host !== calls.streams[0].host);
  const medians = scaleOf(streams.map(({ median }) => median));
  const idles = scaleOf(streams.map(({ idle }) => idle));
  return (
    <>
      <table class="kernel-table">
        <TableHead
          titles={[
            "Stream",
            "Launches",
            `Median (${medians.unit})`,
            `GPU idle before (${idles.unit})`,
          ]}
        />
        <tbody>
          {streams.map(({ host, device, stream, calls: launches, median, idle }) => (
            <tr key={`${host} ${device} ${stream}`}>
              <th scope="row">{[...(hasHosts ? [host] : []), device, stream].join(" ")}</th>
              <td>{formatCount(launches)}</td>
              <td>{write(median, medians)}</td>
              <td>{write(idle, idles)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 ? <p class="muted">{plural(more, "more stream")}</p> : null}
    </>
  );
}

function scaleOf(values: readonly number[]): Scale {
  const known = values.filter((value) => Number.isFinite(value));
  return columnScale("time", Math.max(0, ...known), "", known);
}

function write(value: number, scale: Scale): string {
  return Number.isNaN(value) ? NOT_MEASURED : scale.format(value);
}
