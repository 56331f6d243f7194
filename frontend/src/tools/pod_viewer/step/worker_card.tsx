/** The parts of one worker's step, and a comparison with other workers. */
import type { Signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { formatTime, plural } from "../../../base/format";
import { microseconds } from "../../../base/units";
import { PartTable } from "../../../widgets/stacked_bar/part_table";
import { Card } from "../../../widgets/text/card";
import { ToolLink } from "../../links/tool_link";
import { TRACE } from "../../links/trace_links";
import type { Links } from "../../tool";
import { cellOf, type Pod } from "../payload";
import { largestAt, median, ownTimes, type StepCells } from "./step_cells";
import { workerPlace } from "./step_place";

interface WorkerCardProps {
  readonly pod: Pod;
  readonly cells: StepCells;
  /** The chosen worker; null shows the slowest one. */
  readonly worker: number | null;
  readonly pointed: Signal<number | null>;
  /** Why exact values are missing; "" if they are available or loading. */
  readonly error: string;
  readonly links: Links;
}

export function WorkerCard(props: WorkerCardProps) {
  const { pod, cells, worker, pointed, error, links } = props;
  const [part, pointPart] = useState<string | null>(null);
  const own = useMemo(() => ownTimes(pod, cells), [pod, cells]);
  const hasCollectives = own.some((time, index) => time < cells.total[index]);
  const wanted = pointed.value ?? worker;
  const row = wanted === null ? largestAt(own) : cells.worker.indexOf(wanted);
  const shown = wanted ?? cells.worker[row] ?? 0;
  const role = wanted === null && pod.workers.count > 1 ? "Slowest worker" : "Worker";
  const host = pod.hosts[pod.workers.host[shown]] ?? "";
  return (
    <Card
      class="snug pod-worker"
      title={`${role} ${pod.workers.names[shown].slice(0, 40)}`}
      isBusy={!cells.isExact && !error}
      why={{
        title: "Largest part",
        formula:
          "The part of the worker's step with the most time. “Slower” and “faster” compare the time without collectives with that of the median worker of the step.",
        unit: "time, and percent of the worker's step",
        source: "Device and host events within the worker's step.",
      }}
    >
      {host ? (
        <p class="muted cut" title={host}>
          {host.slice(0, 200)}
        </p>
      ) : null}
      {pod.workers.places[shown] ? <p class="muted">{pod.workers.places[shown]}</p> : null}
      {row < 0 ? (
        <p>
          {pod.unrecorded.has(cellOf(pod, shown, cells.step))
            ? "No activity of this worker was recorded in the step."
            : "This step was not recorded on this worker."}
        </p>
      ) : (
        <>
          <p class="pod-worker-time">
            <b>{formatTime(microseconds(cells.total[row]))}</b>
          </p>
          {own.length > 1 && !Number.isNaN(own[row]) ? (
            <p>{lateness(own, row, hasCollectives)}</p>
          ) : null}
          <PartTable
            label={`Parts of the step on ${pod.workers.titles[shown].slice(0, 200)}`}
            rows={pod.phases
              .map(({ id: phase, label, color }, index) => ({
                id: String(phase),
                label,
                color,
                time: microseconds(cells.phases[index][row]),
                share: cells.total[row] > 0 ? cells.phases[index][row] / cells.total[row] : 0,
                deviation: null,
                isPart: false,
              }))
              .toReversed()}
            total={microseconds(cells.total[row])}
            pointed={part ?? bottleneckId(pod, cells, row)}
            point={pointPart}
          />
          <p class="pod-bottleneck">
            Largest part: <b>{pod.phases[cells.bottleneck[row]]?.label ?? "none"}</b>
          </p>
          <p>
            <ToolLink links={links} tool={TRACE} {...workerPlace(pod, cells, shown)}>
              {host ? "Show its host in trace" : "Show in trace"}
            </ToolLink>
          </p>
          {cells.isTruncated[row] ? <p class="muted">Not fully recorded on this worker.</p> : null}
        </>
      )}
      {error ? <p class="muted">Rounded to 0.1 %: {error}</p> : null}
    </Card>
  );
}

function bottleneckId(pod: Pod, cells: StepCells, row: number): string | null {
  const phase = pod.phases[cells.bottleneck[row]];
  return phase ? String(phase.id) : null;
}

/** Times that differ by a smaller part of the step count as equal. */
const ALIKE = 0.001;

/** "+1.20 ms vs median without collectives; 3 workers are slower." */
function lateness(own: Float64Array, row: number, hasCollectives: boolean): string {
  const slower = own.reduce((count, other) => count + (other > own[row] ? 1 : 0), 0);
  const late = own[row] - median(own);
  const time = formatTime(microseconds(Math.abs(late)));
  const against =
    Math.abs(late) < own[row] * ALIKE
      ? "Equal to the median"
      : `${late > 0 ? "+" : "−"}${time} vs median`;
  const what = hasCollectives ? `${against} without collectives` : against;
  const rank =
    slower === 0 ? "" : `; ${plural(slower, "worker")} ${slower === 1 ? "is" : "are"} slower`;
  return `${what}${rank}.`;
}
