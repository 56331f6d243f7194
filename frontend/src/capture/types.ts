/** The responses of the capture routes, validated. Contract: docs/http_api.md. */
import { count, fields, isRecord, type Json, list, text } from "../api/json";
import { bytes } from "../base/units";

export type WorkerStatus = Readonly<ReturnType<typeof parseWorker>>;

type CaptureState = "waiting" | "running" | "done" | "failed" | "cancelled";

export type CaptureStatus = Readonly<ReturnType<typeof parseCaptureStatus>>;
export type Tested = Readonly<ReturnType<typeof parseProbe>>;

const STATES: readonly string[] = ["waiting", "running", "done", "failed", "cancelled"];

export function isFinal(state: CaptureState): boolean {
  return state === "done" || state === "failed" || state === "cancelled";
}

export function parseCaptureStatus(json: unknown) {
  const status = fields(json);
  const state = text(status.state);
  const error = status.error;
  return {
    id: text(status.id),
    state: STATES.includes(state) ? (state as CaptureState) : "failed",
    ahead: count(status.ahead),
    /** The part of the expected duration that has passed, 0–1. */
    share: Math.min(1, Math.max(0, count(status.share))),
    run: text(status.run),
    written: count(status.written),
    workers: list(status.workers).map(parseWorker),
    error: isRecord(error) ? { message: text(error.message), hint: text(error.hint) } : null,
  };
}

function parseWorker(json: unknown) {
  const worker = fields(json);
  return {
    address: text(worker.address),
    /** The current phase in words; "written", "failed" and "cancelled" are final. */
    phase: text(worker.phase),
    attempts: count(worker.attempts),
    /** Why it failed: `message` is the cause, `fix` the remedy, `details` the server's own error. */
    message: text(worker.message),
    fix: text(worker.fix),
    details: text(worker.details),
    /** Errors that the profiler itself reported. */
    recorderErrors: list(worker.recorder_errors).map(text),
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
