/** Requests to the server. Addresses are relative, so that prefixes and proxies need no setting. */
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

export type QueryParameters = readonly (readonly [name: string, value: string])[];

export interface DataRequest {
  readonly run: string;
  readonly tool: string;
  /** null: every host. */
  readonly hosts: readonly string[] | null;
  /** The tool's own parameters. */
  readonly options?: Readonly<Record<string, string>>;
}

export async function fetchLogdir(signal: AbortSignal): Promise<Logdir> {
  return parseLogdir(await getJson("logdir", [], signal));
}

/** The hosts and tools of a run; without a run, the server's tools. */
export async function fetchSession(run: string, signal: AbortSignal): Promise<Session> {
  return parseSession(await getJson("session", run === "" ? [] : [["run", run]], signal));
}

export async function fetchProgress(
  run: string,
  tool: string,
  signal: AbortSignal,
): Promise<Progress> {
  const parameters: QueryParameters = [
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

/** One host is sent as `host`, several as repeated `hosts`, since names may contain commas. */
export function dataParameters({ run, tool, hosts, options = {} }: DataRequest): QueryParameters {
  // A page may request another page's data.
  const { tag = tool, ...others } = options;
  const chosen: QueryParameters =
    hosts === null
      ? []
      : hosts.length === 1
        ? [["host", hosts[0]]]
        : hosts.map((host) => ["hosts", host] as const);
  return [["run", run], ["tag", tag], ...chosen, ...Object.entries(others), ["layout", "columns"]];
}

/** The response as JSON. Throws ApiError if there is none, or if it reports an error. */
export async function getJson(
  route: string,
  parameters: QueryParameters,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await getResponse(route, parameters, signal, "application/json");
  const body = await readJson(response, signal);
  if (response.ok) return body;
  throw toError(body, response.status);
}

/** Posts `values` as JSON. `headers` prove that the request comes from our own page. */
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

/** The same for binary responses. */
export async function getBytes(
  route: string,
  parameters: QueryParameters,
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  const response = await getResponse(route, parameters, signal, "*/*");
  if (response.ok) return response.arrayBuffer();
  throw toError(await readJson(response, signal), response.status);
}

async function getResponse(
  route: string,
  parameters: QueryParameters,
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
    // A broken connection is not the same as a response that is not JSON.
    throw error instanceof SyntaxError ? badAnswer(response.status) : noAnswer();
  }
}

function toError(body: unknown, status: number): ApiError {
  const error = fields(fields(body).error);
  const textOr = (value: unknown, otherwise: string) =>
    typeof value === "string" ? value : otherwise;
  return new ApiError(
    textOr(error.code, "unknown"),
    textOr(error.message, `The server responded with status ${status}.`),
    textOr(error.hint, ""),
    status,
    textOr(error.field, ""),
  );
}
