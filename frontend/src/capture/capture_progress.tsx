/** The progress or the outcome of a capture: a progress bar, and the state of every worker. */
import { useEffect, useRef } from "preact/hooks";
import { formatBytes, formatTime, plural } from "../base/format";
import { microseconds } from "../base/units";
import { type CaptureStatus, isFinal, type WorkerStatus } from "./types";
import type { CaptureModel } from "./use_capture";

interface CaptureProgressProps {
  readonly model: CaptureModel;
  readonly status: CaptureStatus;
  readonly openRun: (run: string) => void;
}

const SIGNS: Readonly<Record<string, string>> = { written: "✓", failed: "✗", cancelled: "–" };

export function CaptureProgress({ model, status, openRun }: CaptureProgressProps) {
  const { workers, state, run, written } = status;
  const isOver = isFinal(state);
  const hasWorkerMessages = workers.some((worker) => worker.message !== "");
  // The element that had the focus was part of the form.
  const first = useRef<HTMLParagraphElement>(null);
  useEffect(() => first.current?.focus(), []);
  return (
    <div class="capture-progress">
      <p role="status" tabIndex={-1} ref={first}>
        <b>{headline(status)}</b>
      </p>
      {isOver ? null : <progress value={status.share} aria-label="Recorded" />}
      {status.error === null || hasWorkerMessages ? null : (
        <p class="capture-wrong" role="alert">
          {status.error.message}
          {status.error.hint === "" ? "" : `: ${status.error.hint}`}
        </p>
      )}
      <ul class="plain capture-workers" aria-label="Workers">
        {(isOver ? failedFirst(workers) : workers).map((worker) => (
          <WorkerRow key={worker.address} worker={worker} />
        ))}
      </ul>
      <footer>
        {isOver ? (
          <>
            <button type="button" class="button" onClick={model.dismiss}>
              Capture again
            </button>
            <span class="space" />
            {written > 0 ? (
              <button type="button" class="button primary" onClick={() => openRun(run)}>
                Open run
              </button>
            ) : null}
          </>
        ) : (
          <>
            <span class="muted">The capture continues if you close this dialog.</span>
            <span class="space" />
            <button type="button" class="button" onClick={model.cancel}>
              Cancel
            </button>
          </>
        )}
      </footer>
    </div>
  );
}

export function headline({ state, ahead, workers, written, run }: CaptureStatus): string {
  const all = workers.length;
  switch (state) {
    case "waiting":
      return ahead > 0 ? `Waiting for ${plural(ahead, "other capture")}` : "Starting";
    case "running": {
      const left = workers.find((worker) => SIGNS[worker.phase] === undefined);
      const done = workers.filter((worker) => SIGNS[worker.phase] !== undefined).length;
      const phase = left?.phase ?? "starting";
      const text = phase.charAt(0).toUpperCase() + phase.slice(1);
      return all > 1 ? `${text}: ${done} of ${plural(all, "worker")} done` : text;
    }
    case "done":
      return written === all
        ? `Captured ${run}`
        : `Captured ${run}: ${written} of ${plural(all, "worker")}`;
    case "cancelled":
      return "Cancelled: nothing was written";
    case "failed":
      return "Nothing was captured";
  }
}

/** The workers with failed ones first. Only used after the end, so that no row moves during it. */
export function failedFirst(workers: readonly WorkerStatus[]): readonly WorkerStatus[] {
  const isFailed = (worker: WorkerStatus) => worker.phase === "failed";
  return [...workers.filter(isFailed), ...workers.filter((worker) => !isFailed(worker))];
}

function WorkerRow({ worker }: { worker: WorkerStatus }) {
  const sign = SIGNS[worker.phase];
  const isBad = worker.phase === "failed";
  return (
    <li>
      <span
        class={worker.phase === "written" ? "good" : isBad ? "bad" : "muted"}
        aria-hidden="true"
      >
        {sign ?? "·"}
      </span>{" "}
      <code>{worker.address}</code>{" "}
      <span class="muted">
        {worker.phase}
        {worker.bytes > 0 ? `, ${formatBytes(worker.bytes)}` : ""}
        {worker.attempts > 1 ? `, attempt ${worker.attempts}` : ""}
        {worker.phase === "written" && worker.lateSeconds > 1
          ? `, ${formatTime(microseconds(worker.lateSeconds * 1e6))} after the others`
          : ""}
      </span>
      {worker.message !== "" && worker.phase !== "cancelled" ? (
        <div class={isBad ? "capture-wrong" : "muted"}>
          {worker.message}
          {worker.details === "" ? "" : ` (${worker.details.slice(0, 300)})`}: {worker.fix}
        </div>
      ) : null}
      {worker.recorderErrors.map((text) => (
        <div class="capture-wrong" key={text}>
          The profiler reports: {text.slice(0, 500)}
        </div>
      ))}
    </li>
  );
}
