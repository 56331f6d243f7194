/** Errors of requests, and how pages present them. */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
    readonly status: number,
    /** The form field that caused the error, or "". */
    readonly field = "",
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** Whether the server rejected a parameter as malformed; repeating the request would not help. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.code === "bad_request";
}

/** Whether our server did not answer. Data that was loaded earlier is still valid. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ApiError && (error.code === "network" || error.code === "bad_answer");
}

const RESTART = "restart TensorBoard or tbprof serve if it has stopped, then try again";
/** The doctor also works without a server. */
const DOCTOR = "In a terminal, “tbprof doctor LOGDIR” shows what is wrong.";

export function noAnswer(): ApiError {
  const message = "The server does not respond: it may have stopped or be unreachable.";
  return new ApiError("network", message, `Please ${RESTART}. ${DOCTOR}`, 0);
}

/** The error for a response that is not JSON. */
export function badAnswer(status: number): ApiError {
  return new ApiError(
    "bad_answer",
    `The response (status ${status}) is not JSON: it may come from a proxy.`,
    `Please check the proxy, and ${RESTART}. ${DOCTOR}`,
    status,
  );
}

/** Thrown if a response does not have the documented structure. */
export class PayloadError extends Error {
  override name = "PayloadError";
}

/** The error after the user cancelled loading. */
export function cancelled(): ApiError {
  const message = "Loading was cancelled before the page was complete.";
  const hint = "The server keeps what it has read so far, so the next attempt takes less time.";
  return new ApiError("cancelled", message, hint, 0);
}

interface Problem {
  readonly title: string;
  readonly message: string;
  readonly hint: string;
  /** The label of the button that repeats the request. */
  readonly again: string;
  /** false if the run has no data for the page, or if loading was cancelled. */
  readonly isFailure: boolean;
}

const TITLES: Readonly<Record<string, string>> = {
  no_data: "Nothing to show",
  run_not_found: "This run is gone",
  host_not_found: "This host is not in the run",
  tool_not_found: "There is no such page",
  bad_trace: "The trace could not be read",
  unsupported: "This trace is not supported",
  unreachable: "The storage does not respond",
  load_failed: "tbprof could not be loaded",
  internal: "tbprof failed",
  forbidden: "The request was refused",
  capture_not_found: "This capture is gone",
  network: "No connection to the server",
  bad_answer: "The response is not from tbprof",
  cancelled: "Cancelled",
};

/** Any thrown value as a message for users. */
export function describeProblem(error: unknown): Problem {
  if (error instanceof ApiError) {
    return {
      title: TITLES[error.code] ?? "The request failed",
      message: error.message,
      hint: error.hint,
      again: error.code === "cancelled" ? "Start again" : "Try again",
      isFailure: error.code !== "no_data" && error.code !== "cancelled",
    };
  }
  const failed = { again: "Try again", isFailure: true };
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof PayloadError) {
    return {
      title: "The response could not be understood",
      message,
      hint: "The pages and the server may have different versions: reload the page.",
      ...failed,
    };
  }
  return {
    title: "The page failed",
    message,
    hint: "Reload the page; if it happens again, please report it.",
    ...failed,
  };
}
