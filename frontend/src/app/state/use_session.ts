/** The hosts and tools of one run. */
import { useEffect, useState } from "preact/hooks";
import { fetchSession } from "../../api/client";
import { isUnreachable } from "../../api/errors";
import type { Session, SessionTool } from "../../api/types";

interface SessionState {
  /** null while loading and after a failure; kept if the server became unreachable. */
  readonly session: Session | null;
  readonly error: unknown;
}

const NONE: SessionState = { session: null, error: null };
const AGAIN_MS = 15_000;

/** The server's tools, without regard to a run, in its order; empty until it has answered. */
export function useTools(): readonly SessionTool[] {
  const [tools, setTools] = useState<readonly SessionTool[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    // The page's other requests report failures.
    fetchSession("", abort.signal).then(
      (session) => setTools(session.tools),
      () => {},
    );
    return () => abort.abort();
  }, []);
  return tools;
}

/** `pagesBuilt` counts events after which the server may know that further tools have no data. */
export function useSession(run: string, attempt: number, pagesBuilt: number): SessionState {
  const [state, setState] = useState<SessionState & { run: string }>({ ...NONE, run: "" });
  // Each attempt is a new request.
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
  // For some tools the server finds out that there is no data only when it builds their pages.
  useEffect(() => {
    if (run === "" || pagesBuilt === 0) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      if (document.visibilityState === "visible") {
        // The page's own requests report failures.
        const session = await fetchSession(run, abort.signal).catch(() => null);
        if (abort.signal.aborted) return;
        if (session) setState((before) => withTools(before, run, session));
      }
      timer = setTimeout(ask, AGAIN_MS);
    };
    void ask();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [run, attempt, pagesBuilt]);
  return state.run === run ? state : NONE;
}

/** `before` with the new tools; the same object if they have not changed. */
function withTools<State extends SessionState & { run: string }>(
  before: State,
  run: string,
  { tools }: Session,
): State {
  const { session } = before;
  if (before.run !== run || !session) return before;
  const isSame = JSON.stringify(session.tools) === JSON.stringify(tools);
  return isSame ? before : { ...before, session: { ...session, tools } };
}
