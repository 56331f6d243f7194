/** What went wrong, in the words of the error contract. */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
    readonly status: number,
    /** Which choice of the user's is wrong, "" where it is none. */
    readonly field = "",
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** The server takes a parameter for malformed: the same request would be refused again. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.code === "bad_request";
}

/** Nobody answers, or somebody else than our server: what was loaded before is still true. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ApiError && (error.code === "network" || error.code === "bad_answer");
}

const RESTART = "restart TensorBoard or tbprof serve if it has stopped, then try again";
/** The doctor needs no server there. */
const DOCTOR = "In a terminal, “tbprof doctor LOGDIR” shows what is wrong.";

export function noAnswer(): ApiError {
  const message = "The server does not respond: it may have stopped or be unreachable.";
  return new ApiError("network", message, `Please ${RESTART}. ${DOCTOR}`, 0);
}

/** `status` came with something that is not JSON. */
export function badAnswer(status: number): ApiError {
  return new ApiError(
    "bad_answer",
    `The response (status ${status}) is not JSON: it may come from a proxy.`,
    `Please check the proxy, and ${RESTART}. ${DOCTOR}`,
    status,
  );
}

/** The server answered, with something that is not the documented payload. */
export class PayloadError extends Error {
  override name = "PayloadError";
}

/** Somebody has had enough of waiting. */
export function cancelled(): ApiError {
  const message = "Loading was cancelled before the page was complete.";
  const hint = "What the server has read so far is kept: the next attempt takes less time.";
  return new ApiError("cancelled", message, hint, 0);
}

interface Problem {
  readonly title: string;
  readonly message: string;
  readonly hint: string;
  /** Asks again. */
  readonly again: string;
  /** Nothing has failed: the run holds nothing for this page, or nobody wanted it. */
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

/** Any thrown value as a message for people. */
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
