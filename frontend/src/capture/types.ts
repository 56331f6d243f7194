/** The answers of the capture routes, checked where they enter. Contract: docs/http_api.md. */
import { isRecord } from "../api/types";
import { type Bytes, bytes } from "../base/units";

export interface WorkerStanding {
  readonly address: string;
  /** What is being done, in words; the last ones are "written", "failed" and "cancelled". */
  readonly phase: string;
  readonly attempts: number;
  /** Why it failed: what is wrong, the way out, what the server said. */
  readonly reason: string;
  readonly message: string;
  readonly fix: string;
  readonly details: string;
  /** What the recorder itself complained of. */
  readonly complaints: readonly string[];
  readonly bytes: Bytes;
  readonly lateSeconds: number;
}

type CaptureState = "waiting" | "running" | "done" | "failed" | "cancelled";

export interface Standing {
  readonly id: string;
  readonly state: CaptureState;
  readonly ahead: number;
  /** How much of the time that it is to take has passed, 0 to 1. */
  readonly share: number;
  readonly run: string;
  readonly written: number;
  readonly workers: readonly WorkerStanding[];
  readonly error: { readonly message: string; readonly hint: string } | null;
}

interface ProbeStep {
  readonly step: string;
  readonly isOk: boolean;
  readonly detail: string;
}

export interface Tested {
  readonly address: string;
  readonly isTpuName: boolean;
  readonly steps: readonly ProbeStep[];
  readonly message: string;
  readonly fix: string;
}

const STATES: readonly string[] = ["waiting", "running", "done", "failed", "cancelled"];

export function isFinal(state: CaptureState): boolean {
  return state === "done" || state === "failed" || state === "cancelled";
}

export function parseStanding(json: unknown): Standing {
  const standing = record(json);
  const state = text(standing.state);
  const error = standing.error;
  return {
    id: text(standing.id),
    state: STATES.includes(state) ? (state as CaptureState) : "failed",
    ahead: number(standing.ahead),
    share: Math.min(1, Math.max(0, number(standing.share))),
    run: text(standing.run),
    written: number(standing.written),
    workers: list(standing.workers).map(parseWorker),
    error: isRecord(error) ? { message: text(error.message), hint: text(error.hint) } : null,
  };
}

function parseWorker(json: unknown): WorkerStanding {
  const worker = record(json);
  return {
    address: text(worker.address),
    phase: text(worker.phase),
    attempts: number(worker.attempts),
    reason: text(worker.reason),
    message: text(worker.message),
    fix: text(worker.fix),
    details: text(worker.details),
    complaints: list(worker.complaints).map(text),
    bytes: bytes(number(worker.bytes)),
    lateSeconds: number(worker.late_s),
  };
}

export function parseTested(json: unknown): Tested[] {
  return list(record(json).workers).map((item) => {
    const worker = record(item);
    return {
      address: text(worker.address),
      isTpuName: worker.is_tpu_name === true,
      steps: list(worker.steps).map((one) => {
        const step = record(one);
        return { step: text(step.step), isOk: step.ok === true, detail: text(step.detail) };
      }),
      message: text(worker.message),
      fix: text(worker.fix),
    };
  });
}

const record = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const number = (value: unknown): number => (typeof value === "number" ? value : 0);
