/** The hosts and tools of one run. */
import { useEffect, useState } from "preact/hooks";
import { fetchSession } from "../../api/client";
import { isUnreachable } from "../../api/errors";
import type { Session, SessionTool } from "../../api/types";

interface SessionState {
  /** null while it is on the way, and where it failed; as it was where the server is out of reach. */
  readonly session: Session | null;
  readonly error: unknown;
}

const NONE: SessionState = { session: null, error: null };
const AGAIN_MS = 15_000;

/** The server's tools without a run: their names, in its order. None until it has answered. */
export function useTools(): readonly SessionTool[] {
  const [tools, setTools] = useState<readonly SessionTool[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    // What a failure would say is said by the page's other requests.
    fetchSession("", abort.signal).then(
      (session) => setTools(session.tools),
      () => {},
    );
    return () => abort.abort();
  }, []);
  return tools;
}

/** `lessons` counts what has happened that may have shown which tools have nothing. */
export function useSession(run: string, attempt: number, lessons: number): SessionState {
  const [state, setState] = useState<SessionState & { run: string }>({ ...NONE, run: "" });
  // An attempt asks again.
  useEffect(() => {
    if (run === "") return;
    const abort = new AbortController();
    fetchSession(run, abort.signal).then(
      (session) => setState({ run, session, error: null }),
      (error: unknown) => {
        if (abort.signal.aborted) return;
        setState((before) => ({
          run,
          session: before.run === run && isUnreachable(error) ? before.session : null,
          error,
        }));
      },
    );
    return () => abort.abort();
  }, [run, attempt]);
  // The server learns of some tools that they have nothing only when it prepares their pages.
  useEffect(() => {
    if (run === "" || lessons === 0) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      if (document.visibilityState === "visible") {
        // What a failure would say is said by the page's own requests.
        const session = await fetchSession(run, abort.signal).catch(() => null);
        if (abort.signal.aborted) return;
        if (session) setState((before) => learned(before, run, session));
      }
      timer = setTimeout(ask, AGAIN_MS);
    };
    void ask();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [run, attempt, lessons]);
  return state.run === run ? state : NONE;
}

/** The same hosts with what is known of the tools now; `before` where that is the same. */
function learned<State extends SessionState & { run: string }>(
  before: State,
  run: string,
  { tools }: Session,
): State {
  const { session } = before;
  if (before.run !== run || !session) return before;
  const isSame = JSON.stringify(session.tools) === JSON.stringify(tools);
  return isSame ? before : { ...before, session: { ...session, tools } };
}
