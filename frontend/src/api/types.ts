/** The responses of our own routes, validated. Contract: docs/http_api.md. */
import { bytes, milliseconds } from "../base/units";
import { count, fields, isRecord, type Json, list, text } from "./json";

export type Warning = Readonly<ReturnType<typeof parseWarning>>;
export type Run = Readonly<ReturnType<typeof parseRun>>;
export type Logdir = Readonly<ReturnType<typeof parseLogdir>>;
export type SessionHost = Readonly<ReturnType<typeof parseSessionHost>>;
export type SessionTool = Readonly<ReturnType<typeof parseSessionTool>>;
export type Session = Readonly<ReturnType<typeof parseSession>>;
export type Progress = Readonly<ReturnType<typeof parseProgress>>;

export function parseLogdir(json: unknown) {
  const logdir = fields(json);
  const searched = fields(logdir.searched);
  return {
    path: text(logdir.logdir),
    isScanning: logdir.scanning === true,
    searched: {
      directories: count(searched.directories),
      files: count(searched.files),
      stopped: typeof searched.stopped === "string" ? searched.stopped : null,
    },
    ignored: list(logdir.ignored)
      .map(fields)
      .map(({ path, reason }) => ({ path: text(path), reason: text(reason) })),
    runs: list(logdir.runs).map(parseRun),
  };
}

function parseRun(json: unknown) {
  const run = fields(json);
  return {
    name: text(run.name),
    hosts: Array.isArray(run.hosts) ? run.hosts.length : count(run.hosts),
    bytes: bytes(count(run.bytes)),
    modified: milliseconds(count(run.modified_ms)),
  };
}

export function parseSession(json: unknown) {
  const session = fields(json);
  return {
    hosts: list(session.hosts).map(parseSessionHost),
    tools: list(session.tools).map(parseSessionTool),
  };
}

function parseSessionHost(json: unknown) {
  const host = fields(json);
  return {
    name: text(host.hostname),
    bytes: bytes(count(host.bytes)),
    error: isRecord(host.error) ? parseWarning(host.error) : null,
  };
}

function parseSessionTool(json: unknown) {
  const tool = fields(json);
  return {
    name: text(tool.name),
    label: text(tool.label),
    /** For the tab. */
    short: text(tool.short) || text(tool.label),
    /** Other names that users may search for. */
    also: list(tool.also).map(text),
    isSingleHost: tool.hosts === "one",
    /** A detail page, which other pages link to; its tab moves into "More" early. */
    isDetail: tool.detail === true,
    isAvailable: tool.available === true,
    reason: text(tool.reason),
    /** How to get data for it. */
    hint: text(tool.hint),
  };
}

export function parseProgress(json: unknown) {
  const progress = fields(json);
  const state = progress.state;
  return {
    state: state === "preparing" || state === "working" || state === "error" ? state : "idle",
    text: text(progress.text),
    share: count(progress.share),
  };
}

export function parseWarnings(json: unknown): Warning[] {
  return list(json).map(fields).map(parseWarning);
}

function parseWarning(item: Json) {
  return {
    code: text(item.code),
    message: text(item.message),
    host: text(item.host),
    hint: text(item.hint),
  };
}

/** The server's capture settings: why captures are disabled, the token to send, and the logdir. */
export type CaptureConfig = Readonly<ReturnType<typeof parseCaptureConfig>>;

export function parseCaptureConfig(json: unknown) {
  const { off, token, logdir } = fields(fields(json).capture);
  return { off: text(off), token: text(token), logdir: text(logdir) };
}
