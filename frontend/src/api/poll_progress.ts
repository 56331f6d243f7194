/** Polls the server's progress. */
import { fetchProgress } from "./client";
import type { Progress } from "./types";

/** Most requests are answered sooner, and need no progress. */
const QUIET_MS = 200;
const POLL_MS = 300;

/** Reports progress until the returned function is called. */
export function pollProgress(
  run: string,
  tool: string,
  report: (progress: Progress) => void,
): () => void {
  const abort = new AbortController();
  const poll = async () => {
    try {
      const progress = await fetchProgress(run, tool, abort.signal);
      if (!abort.signal.aborted) report(progress);
    } catch {
      // The request that is waited for reports the error.
    }
    if (!abort.signal.aborted) timer = setTimeout(poll, POLL_MS);
  };
  let timer = setTimeout(poll, QUIET_MS);
  return () => {
    abort.abort();
    clearTimeout(timer);
  };
}
