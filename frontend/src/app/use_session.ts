/** The hosts and tools of one run. */
import { useEffect, useState } from "preact/hooks";
import { fetchSession } from "../api/client";
import type { Session } from "../api/types";

export interface SessionState {
  /** null while it is on the way, and where it failed. */
  readonly session: Session | null;
  readonly error: unknown;
}

const NONE: SessionState = { session: null, error: null };

export function useSession(run: string, attempt: number): SessionState {
  const [state, setState] = useState<SessionState & { run: string }>({ ...NONE, run: "" });
  // An attempt asks again.
  useEffect(() => {
    if (run === "") return;
    const abort = new AbortController();
    fetchSession(run, abort.signal).then(
      (session) => setState({ run, session, error: null }),
      (error: unknown) => {
        if (!abort.signal.aborted) setState({ run, session: null, error });
      },
    );
    return () => abort.abort();
  }, [run, attempt]);
  return state.run === run ? state : NONE;
}
