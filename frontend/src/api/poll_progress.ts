/** Asks what the server is doing, again and again. */
import { fetchProgress } from "./client";
import type { Progress } from "./types";

/** Most answers come before. */
const QUIET_MS = 200;
const POLL_MS = 300;

/** Reports until it is stopped by the function that it returns. */
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
      // The request itself says what is wrong.
    }
    if (!abort.signal.aborted) timer = setTimeout(poll, POLL_MS);
  };
  let timer = setTimeout(poll, QUIET_MS);
  return () => {
    abort.abort();
    clearTimeout(timer);
  };
}
