/** The answers of the capture routes, checked where they enter. Contract: docs/http_api.md. */
import { count, fields, isRecord, type Json, list, text } from "../api/json";
import { bytes } from "../base/units";

export type WorkerStanding = Readonly<ReturnType<typeof parseWorker>>;

type CaptureState = "waiting" | "running" | "done" | "failed" | "cancelled";

export type Standing = Readonly<ReturnType<typeof parseStanding>>;
export type Tested = Readonly<ReturnType<typeof parseProbe>>;

const STATES: readonly string[] = ["waiting", "running", "done", "failed", "cancelled"];

export function isFinal(state: CaptureState): boolean {
  return state === "done" || state === "failed" || state === "cancelled";
}

export function parseStanding(json: unknown) {
  const standing = fields(json);
  const state = text(standing.state);
  const error = standing.error;
  return {
    id: text(standing.id),
    state: STATES.includes(state) ? (state as CaptureState) : "failed",
    ahead: count(standing.ahead),
    /** How much of the time that it is to take has passed, 0 to 1. */
    share: Math.min(1, Math.max(0, count(standing.share))),
    run: text(standing.run),
    written: count(standing.written),
    workers: list(standing.workers).map(parseWorker),
    error: isRecord(error) ? { message: text(error.message), hint: text(error.hint) } : null,
  };
}

function parseWorker(json: unknown) {
  const worker = fields(json);
  return {
    address: text(worker.address),
    /** What is being done, in words; the last ones are "written", "failed" and "cancelled". */
    phase: text(worker.phase),
    attempts: count(worker.attempts),
    /** Why it failed: what is wrong, the way out, what the server said. */
    reason: text(worker.reason),
    message: text(worker.message),
    fix: text(worker.fix),
    details: text(worker.details),
    /** Errors that the recorder itself reported. */
    complaints: list(worker.complaints).map(text),
    bytes: bytes(count(worker.bytes)),
    lateSeconds: count(worker.late_s),
  };
}

export function parseTested(json: unknown): Tested[] {
  return list(fields(json).workers).map(fields).map(parseProbe);
}

function parseProbe(worker: Json) {
  return {
    address: text(worker.address),
    isTpuName: worker.is_tpu_name === true,
    steps: list(worker.steps)
      .map(fields)
      .map(({ step, ok, detail }) => ({
        step: text(step),
        isOk: ok === true,
        detail: text(detail),
      })),
    message: text(worker.message),
    fix: text(worker.fix),
  };
}
