/** A capture under way, or ended: a bar over its time, and every worker with what became of it. */
import { useEffect, useRef } from "preact/hooks";
import { formatBytes, formatTime, plural } from "../base/format";
import { microseconds } from "../base/units";
import { isFinal, type Standing, type WorkerStanding } from "./types";
import type { CaptureModel } from "./use_capture";

interface Props {
  readonly model: CaptureModel;
  readonly standing: Standing;
  readonly openRun: (run: string) => void;
}

const SIGNS: Readonly<Record<string, string>> = { written: "✓", failed: "✗", cancelled: "–" };

export function CaptureProgress({ model, standing, openRun }: Props) {
  const { workers, state, run, written } = standing;
  const isOver = isFinal(state);
  const said = workers.some((worker) => worker.message !== "");
  // What had the focus is gone with the choices.
  const first = useRef<HTMLParagraphElement>(null);
  useEffect(() => first.current?.focus(), []);
  return (
    <div class="capture-progress">
      <p role="status" tabIndex={-1} ref={first}>
        <b>{headline(standing)}</b>
      </p>
      {isOver ? null : <progress value={standing.share} aria-label="Recorded" />}
      {standing.error === null || said ? null : (
        <p class="capture-wrong" role="alert">
          {standing.error.message}
          {standing.error.hint === "" ? "" : `: ${standing.error.hint}`}
        </p>
      )}
      <ul class="capture-workers" aria-label="Workers">
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
            <span class="muted">You can close this window in the meantime.</span>
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

export function headline({ state, ahead, workers, written, run }: Standing): string {
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

/** Nothing moves while it runs; afterwards those that failed must not be searched for. */
export function failedFirst(workers: readonly WorkerStanding[]): readonly WorkerStanding[] {
  const isFailed = (worker: WorkerStanding) => worker.phase === "failed";
  return [...workers.filter(isFailed), ...workers.filter((worker) => !isFailed(worker))];
}

function WorkerRow({ worker }: { worker: WorkerStanding }) {
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
      {worker.complaints.map((text) => (
        <div class="capture-wrong" key={text}>
          The recorder says: {text.slice(0, 500)}
        </div>
      ))}
    </li>
  );
}
