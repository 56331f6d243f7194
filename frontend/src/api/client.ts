/** The routes of the server, relative to the page, so that prefixes and proxies need no setting. */
import { ApiError, badAnswer, noAnswer } from "./errors";
import { fields } from "./json";
import {
  type Logdir,
  type Progress,
  parseLogdir,
  parseProgress,
  parseSession,
  type Session,
} from "./types";

export type Parameters = readonly (readonly [name: string, value: string])[];

export interface DataRequest {
  readonly run: string;
  readonly tool: string;
  /** null: every host. */
  readonly hosts: readonly string[] | null;
  /** Parameters of the tool's own. */
  readonly options?: Readonly<Record<string, string>>;
}

export async function fetchLogdir(signal: AbortSignal): Promise<Logdir> {
  return parseLogdir(await getJson("logdir", [], signal));
}

/** Without a run: the tools that there are. */
export async function fetchSession(run: string, signal: AbortSignal): Promise<Session> {
  return parseSession(await getJson("session", run === "" ? [] : [["run", run]], signal));
}

export async function fetchProgress(
  run: string,
  tool: string,
  signal: AbortSignal,
): Promise<Progress> {
  const parameters: Parameters = [
    ["run", run],
    ["tag", tool],
  ];
  return parseProgress(await getJson("progress", parameters, signal));
}

export async function fetchData(
  request: DataRequest,
  signal: AbortSignal,
  route = "data",
): Promise<unknown> {
  return getJson(route, dataParameters(request), signal);
}

/** One host goes as `host`; several as a repeated `hosts`, because names may hold commas. */
export function dataParameters({ run, tool, hosts, options = {} }: DataRequest): Parameters {
  // A page may ask for the data of another one.
  const { tag = tool, ...others } = options;
  const chosen: Parameters =
    hosts === null
      ? []
      : hosts.length === 1
        ? [["host", hosts[0]]]
        : hosts.map((host) => ["hosts", host] as const);
  return [["run", run], ["tag", tag], ...chosen, ...Object.entries(others), ["layout", "columns"]];
}

/** Throws ApiError where there is no answer, or one that says what is wrong. */
export async function getJson(
  route: string,
  parameters: Parameters,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await getResponse(route, parameters, signal, "application/json");
  const body = await readJson(response, signal);
  if (response.ok) return body;
  throw toError(body, response.status);
}

/** Asks for something to be done. `headers` prove that it is our own page that asks. */
export async function postJson(
  route: string,
  values: unknown,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await sent(route, signal, {
    method: "POST",
    headers: { Accept: "application/json", "Content-Type": "application/json", ...headers },
    body: JSON.stringify(values),
  });
  const body = await readJson(response, signal);
  if (response.ok) return body;
  throw toError(body, response.status);
}

/** The same for an answer that is not a text. */
export async function getBytes(
  route: string,
  parameters: Parameters,
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  const response = await getResponse(route, parameters, signal, "*/*");
  if (response.ok) return response.arrayBuffer();
  throw toError(await readJson(response, signal), response.status);
}

async function getResponse(
  route: string,
  parameters: Parameters,
  signal: AbortSignal,
  accept: string,
): Promise<Response> {
  const query = new URLSearchParams(parameters.map(([name, value]) => [name, value])).toString();
  return sent(query === "" ? route : `${route}?${query}`, signal, { headers: { Accept: accept } });
}

async function sent(address: string, signal: AbortSignal, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, { ...init, signal });
  } catch (error) {
    if (signal.aborted) throw error;
    throw noAnswer();
  }
}

async function readJson(response: Response, signal: AbortSignal): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (signal.aborted) throw error;
    // A connection that breaks is another matter than an answer of another kind.
    throw error instanceof SyntaxError ? badAnswer(response.status) : noAnswer();
  }
}

function toError(body: unknown, status: number): ApiError {
  const error = fields(fields(body).error);
  const say = (value: unknown, otherwise: string) =>
    typeof value === "string" ? value : otherwise;
  return new ApiError(
    say(error.code, "unknown"),
    say(error.message, `The server responded with status ${status}.`),
    say(error.hint, ""),
    status,
    say(error.field, ""),
  );
}
