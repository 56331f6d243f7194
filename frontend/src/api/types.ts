/** The answers of our own routes, checked where they enter. Contract: docs/http_api.md. */
import { type Bytes, bytes, type Milliseconds, milliseconds } from "../base/units";

export interface Warning {
  readonly code: string;
  readonly message: string;
  readonly host: string;
  readonly hint: string;
}

export interface Run {
  readonly name: string;
  readonly hosts: number;
  readonly bytes: Bytes;
  readonly modified: Milliseconds;
}

export interface Logdir {
  readonly path: string;
  readonly isScanning: boolean;
  readonly searched: {
    readonly directories: number;
    readonly files: number;
    readonly seconds: number;
    readonly stopped: string | null;
  };
  readonly ignored: readonly { readonly path: string; readonly reason: string }[];
  readonly runs: readonly Run[];
}

export interface SessionHost {
  readonly name: string;
  readonly bytes: Bytes;
  readonly error: { readonly code: string; readonly message: string; readonly hint: string } | null;
}

export interface SessionTool {
  readonly name: string;
  readonly label: string;
  /** For the tab. */
  readonly short: string;
  readonly isSingleHost: boolean;
  readonly isAvailable: boolean;
  readonly reason: string;
  /** The way out. */
  readonly hint: string;
}

export interface Session {
  readonly run: string;
  readonly hosts: readonly SessionHost[];
  readonly tools: readonly SessionTool[];
}

export interface Progress {
  readonly state: "idle" | "preparing" | "working" | "error";
  readonly text: string;
  readonly done: number;
  readonly total: number;
}

export function parseLogdir(json: unknown): Logdir {
  const logdir = record(json);
  const searched = record(logdir.searched);
  return {
    path: text(logdir.logdir),
    isScanning: logdir.scanning === true,
    searched: {
      directories: number(searched.directories),
      files: number(searched.files),
      seconds: number(searched.seconds),
      stopped: typeof searched.stopped === "string" ? searched.stopped : null,
    },
    ignored: list(logdir.ignored).map((item) => ({
      path: text(record(item).path),
      reason: text(record(item).reason),
    })),
    runs: list(logdir.runs).map((item) => {
      const run = record(item);
      return {
        name: text(run.name),
        hosts: Array.isArray(run.hosts) ? run.hosts.length : number(run.hosts),
        bytes: bytes(number(run.bytes)),
        modified: milliseconds(number(run.modified_ms)),
      };
    }),
  };
}

export function parseSession(json: unknown): Session {
  const session = record(json);
  return {
    run: text(session.run),
    hosts: list(session.hosts).map((item) => {
      const host = record(item);
      return {
        name: text(host.hostname),
        bytes: bytes(number(host.bytes)),
        error: isRecord(host.error) ? parseWarning(host.error) : null,
      };
    }),
    tools: list(session.tools).map((item) => {
      const tool = record(item);
      return {
        name: text(tool.name),
        label: text(tool.label),
        short: text(tool.short) || text(tool.label),
        isSingleHost: tool.hosts === "one",
        isAvailable: tool.available === true,
        reason: text(tool.reason),
        hint: text(tool.hint),
      };
    }),
  };
}

export function parseProgress(json: unknown): Progress {
  const progress = record(json);
  const state = progress.state;
  return {
    state: state === "preparing" || state === "working" || state === "error" ? state : "idle",
    text: text(progress.text),
    done: number(progress.done),
    total: number(progress.total),
  };
}

export function parseWarnings(json: unknown): Warning[] {
  return list(json).map((item) => parseWarning(record(item)));
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseWarning(item: Record<string, unknown>): Warning {
  return {
    code: text(item.code),
    message: text(item.message),
    host: text(item.host),
    hint: text(item.hint),
  };
}

/** What a server says of itself, for captures: why there are none, the proof to show, the place. */
export interface CaptureConfig {
  readonly off: string;
  readonly token: string;
  readonly logdir: string;
}

export function parseCaptureConfig(json: unknown): CaptureConfig {
  const config = record(record(json).capture);
  const off = text(config.off);
  return { off, token: text(config.token), logdir: text(config.logdir) };
}

const record = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const number = (value: unknown): number => (typeof value === "number" ? value : 0);
