/** The capture of this page: started, followed until it has ended, kept while its dialog is shut. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../api/errors";
import type { CaptureConfig } from "../api/types";
import {
  cancelCapture,
  fetchCaptureConfig,
  fetchStanding,
  fetchUnfinished,
  startCapture,
} from "./api";
import { type Choices, DEFAULTS, recentAddresses, rememberAddresses } from "./choices";
import { isFinal, type Standing } from "./types";

const POLL_MS = 200;
const MOST_FAILURES = 10;

export interface CaptureModel {
  /** null until the server has said whether it captures. */
  readonly config: CaptureConfig | null;
  readonly choices: Choices;
  readonly choose: (patch: Partial<Choices>) => void;
  /** The capture that runs, or ran last; null where there is none. */
  readonly standing: Standing | null;
  /** Why the last request failed. */
  readonly error: unknown;
  readonly isStarting: boolean;
  /** Posts with the server's token; a restarted server has another, which is requested. */
  readonly post: <Answer>(send: (token: string) => Promise<Answer>) => Promise<Answer>;
  readonly start: () => void;
  readonly cancel: () => void;
  /** Back to the choices. */
  readonly dismiss: () => void;
}

/** `onWritten` hears of a run when all of its workers have ended. */
export function useCapture(onWritten: (standing: Standing) => void): CaptureModel {
  const [config, setConfig] = useState<CaptureConfig | null>(null);
  const [choices, setChoices] = useState<Choices>(() => ({
    ...DEFAULTS,
    addresses: recentAddresses()[0] ?? "",
  }));
  const [standing, setStanding] = useState<Standing | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isStarting, setStarting] = useState(false);
  const heard = useRef(onWritten);
  heard.current = onWritten;

  useEffect(() => {
    const abort = new AbortController();
    fetchCaptureConfig(abort.signal)
      .then(async (answer) => {
        setConfig(answer);
        // A page that was loaded again goes on with what it was doing.
        const running = answer.off === "" ? await fetchUnfinished(abort.signal) : [];
        if (running.length > 0) setStanding((before) => before ?? running[0]);
      })
      .catch(() => undefined); // without an answer there is no button
    return () => abort.abort();
  }, []);

  const id = standing !== null && !isFinal(standing.state) ? standing.id : "";
  useEffect(() => {
    if (id === "") return;
    const abort = new AbortController();
    let failures = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      try {
        const answer = await fetchStanding(id, abort.signal);
        if (abort.signal.aborted) return;
        failures = 0;
        setStanding(answer);
        if (isFinal(answer.state)) {
          if (answer.written > 0) heard.current(answer);
          return;
        }
      } catch (problem) {
        if (abort.signal.aborted) return;
        failures += 1;
        // A restarted server does not know it.
        if (failures > MOST_FAILURES || isGone(problem)) {
          setStanding(null);
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
          setStanding(answer);
        },
        (problem: unknown) => setError(problem),
      )
      .finally(() => setStarting(false));
  };
  const cancel = () => {
    if (config === null || standing === null) return;
    post((token) => cancelCapture(standing.id, token, new AbortController().signal)).then(
      (answer) => {
        setStanding(answer);
        if (isFinal(answer.state) && answer.written > 0) heard.current(answer);
      },
      (problem: unknown) => setError(problem),
    );
  };
  const dismiss = useCallback(() => {
    setStanding(null);
    setError(null);
  }, []);
  return { config, choices, choose, standing, error, isStarting, post, start, cancel, dismiss };
}

function isGone(problem: unknown): boolean {
  return problem instanceof ApiError && problem.code === "capture_not_found";
}
