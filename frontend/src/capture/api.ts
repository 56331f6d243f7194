/** Calls of the capture routes. */
import { getJson, postJson } from "../api/client";
import { fields, list } from "../api/json";
import { type CaptureConfig, parseCaptureConfig } from "../api/types";
import { type Choices, requestOf } from "./choices";
import { type CaptureStatus, parseCaptureStatus, parseTested, type Tested } from "./types";

const PROOF = "X-Tbprof-Token";

export async function fetchCaptureConfig(signal: AbortSignal): Promise<CaptureConfig> {
  return parseCaptureConfig(await getJson("config", [], signal));
}

export async function startCapture(
  choices: Choices,
  token: string,
  signal: AbortSignal,
): Promise<CaptureStatus> {
  return parseCaptureStatus(await post("capture", requestOf(choices), token, signal));
}

export async function fetchCaptureStatus(id: string, signal: AbortSignal): Promise<CaptureStatus> {
  return parseCaptureStatus(await getJson("captures", [["id", id]], signal));
}

/** The captures that wait or run, oldest first. */
export async function fetchUnfinished(signal: AbortSignal): Promise<CaptureStatus[]> {
  const { captures } = fields(await getJson("captures", [], signal));
  return list(captures).map(parseCaptureStatus);
}

export async function cancelCapture(
  id: string,
  token: string,
  signal: AbortSignal,
): Promise<CaptureStatus> {
  return parseCaptureStatus(await post("capture_cancel", { id }, token, signal));
}

/** What answers at each address; running programs are not affected. */
export async function testConnections(
  { addresses, workers }: Choices,
  token: string,
  signal: AbortSignal,
): Promise<Tested[]> {
  return parseTested(await post("capture_test", { addresses, workers }, token, signal));
}

function post(route: string, values: unknown, token: string, signal: AbortSignal) {
  return postJson(route, values, { [PROOF]: token }, signal);
}
