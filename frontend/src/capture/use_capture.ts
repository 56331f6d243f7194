/** The capture of this page: starts it and polls it until it ends, even if the dialog is closed. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../api/errors";
import type { CaptureConfig } from "../api/types";
import {
  cancelCapture,
  fetchCaptureConfig,
  fetchCaptureStatus,
  fetchUnfinished,
  startCapture,
} from "./api";
import { type Choices, DEFAULTS, recentAddresses, rememberAddresses } from "./choices";
import { type CaptureStatus, isFinal } from "./types";

const POLL_MS = 200;
const MOST_FAILURES = 10;

export interface CaptureModel {
  /** null until the server has reported whether captures are enabled. */
  readonly config: CaptureConfig | null;
  readonly choices: Choices;
  readonly choose: (patch: Partial<Choices>) => void;
  /** The running capture, or the last one; null if there is none. */
  readonly status: CaptureStatus | null;
  /** Why the last request failed. */
  readonly error: unknown;
  readonly isStarting: boolean;
  /** Posts with the server's token; if the server was restarted, it first fetches the new token. */
  readonly post: <Answer>(send: (token: string) => Promise<Answer>) => Promise<Answer>;
  readonly start: () => void;
  readonly cancel: () => void;
  /** Returns to the form. */
  readonly dismiss: () => void;
}

/** `onWritten` is called when all workers of a capture have ended and at least one was written. */
export function useCapture(onWritten: (status: CaptureStatus) => void): CaptureModel {
  const [config, setConfig] = useState<CaptureConfig | null>(null);
  const [choices, setChoices] = useState<Choices>(() => ({
    ...DEFAULTS,
    addresses: recentAddresses()[0] ?? "",
  }));
  const [status, setStatus] = useState<CaptureStatus | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isStarting, setStarting] = useState(false);
  const latestOnWritten = useRef(onWritten);
  latestOnWritten.current = onWritten;

  useEffect(() => {
    const abort = new AbortController();
    fetchCaptureConfig(abort.signal)
      .then(async (answer) => {
        setConfig(answer);
        // After a reload, the page picks up a capture that is still running.
        const running = answer.off === "" ? await fetchUnfinished(abort.signal) : [];
        if (running.length > 0) setStatus((before) => before ?? running[0]);
      })
      .catch(() => undefined); // without an answer, the bar has no capture button
    return () => abort.abort();
  }, []);

  const id = status !== null && !isFinal(status.state) ? status.id : "";
  useEffect(() => {
    if (id === "") return;
    const abort = new AbortController();
    let failures = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      try {
        const answer = await fetchCaptureStatus(id, abort.signal);
        if (abort.signal.aborted) return;
        failures = 0;
        setStatus(answer);
        if (isFinal(answer.state)) {
          if (answer.written > 0) latestOnWritten.current(answer);
          return;
        }
      } catch (problem) {
        if (abort.signal.aborted) return;
        failures += 1;
        // A restarted server does not know the capture.
        if (failures > MOST_FAILURES || isGone(problem)) {
          setStatus(null);
          setError(problem);
          return;
        }
      }
      timer = setTimeout(ask, POLL_MS * (1 + failures));
    };
    timer = setTimeout(ask, POLL_MS);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [id]);

  const choose = useCallback((patch: Partial<Choices>) => {
    setChoices((before) => ({ ...before, ...patch }));
    setError(null);
  }, []);
  const post = async <Answer>(send: (token: string) => Promise<Answer>) => {
    try {
      return await send(config?.token ?? "");
    } catch (problem) {
      if (!(problem instanceof ApiError && problem.code === "forbidden")) throw problem;
      const fresh = await fetchCaptureConfig(new AbortController().signal);
      setConfig(fresh);
      if (fresh.off !== "" || fresh.token === config?.token) throw problem;
      return send(fresh.token);
    }
  };
  const start = () => {
    if (config === null || isStarting) return;
    setStarting(true);
    setError(null);
    post((token) => startCapture(choices, token, new AbortController().signal))
      .then(
        (answer) => {
          rememberAddresses(choices.addresses);
          setStatus(answer);
        },
        (problem: unknown) => setError(problem),
      )
      .finally(() => setStarting(false));
  };
  const cancel = () => {
    if (config === null || status === null) return;
    post((token) => cancelCapture(status.id, token, new AbortController().signal)).then(
      (answer) => {
        setStatus(answer);
        if (isFinal(answer.state) && answer.written > 0) latestOnWritten.current(answer);
      },
      (problem: unknown) => setError(problem),
    );
  };
  const dismiss = useCallback(() => {
    setStatus(null);
    setError(null);
  }, []);
  return { config, choices, choose, status, error, isStarting, post, start, cancel, dismiss };
}

function isGone(problem: unknown): boolean {
  return problem instanceof ApiError && problem.code === "capture_not_found";
}
