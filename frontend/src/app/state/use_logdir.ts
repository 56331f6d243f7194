/** The runs in the logdir, polled while the page is visible. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { fetchLogdir } from "../../api/client";
import type { Logdir, Run } from "../../api/types";

interface LogdirState {
  /** null until the first answer. */
  readonly logdir: Logdir | null;
  /** Runs, newest first. */
  readonly runs: readonly Run[];
  /** Runs that appeared after the page was opened. */
  readonly fresh: ReadonlySet<string>;
  /** Why the last request failed, or null. */
  readonly error: unknown;
  /** The run is no longer new. */
  readonly markSeen: (run: string) => void;
  readonly refresh: () => void;
}

const WAITING_MS = 3_000;
const IDLE_MS = 15_000;

export function useLogdir(): LogdirState {
  const [logdir, setLogdir] = useState<Logdir | null>(null);
  const [runs, setRuns] = useState<readonly Run[]>([]);
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  const known = useRef<Set<string> | null>(null);

  // A new attempt polls at once.
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      let wait = IDLE_MS;
      try {
        if (document.visibilityState === "visible") {
          const answer = await fetchLogdir(abort.signal);
          if (abort.signal.aborted) return;
          const isFirst = known.current === null;
          if (isFirst && !answer.isScanning)
            known.current = new Set(answer.runs.map((run) => run.name));
          const added = answer.runs.filter((run) => known.current && !known.current.has(run.name));
          setLogdir(answer);
          setRuns((before) => sameRuns(before, newestFirst(answer.runs)));
          setFresh((before) => sameNames(before, new Set(added.map((run) => run.name))));
          setError(null);
          if (answer.isScanning || answer.runs.length === 0) wait = WAITING_MS;
        }
      } catch (problem) {
        if (abort.signal.aborted) return;
        setError(problem);
      }
      timer = setTimeout(ask, wait);
    };
    void ask();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [attempt]);
  const refresh = useCallback(() => setAttempt((count) => count + 1), []);
  const markSeen = useCallback((run: string) => {
    known.current?.add(run);
    setFresh((before) => sameNames(before, new Set([...before].filter((name) => name !== run))));
  }, []);
  return { logdir, runs, fresh, error, markSeen, refresh };
}

/** Runs named by a time stamp are ordered by it: copying a logdir changes modification times. */
export function newestFirst(runs: readonly Run[]): Run[] {
  return runs
    .map((run) => ({ run, stamp: timeStamp(run.name) }))
    .sort(
      (a, b) =>
        (a.stamp !== "" && b.stamp !== "" && a.stamp !== b.stamp
          ? a.stamp < b.stamp
            ? 1
            : -1
          : b.run.modified - a.run.modified) || (a.run.name < b.run.name ? 1 : -1),
    )
    .map(({ run }) => run);
}

/** "2026_11_21_01_25_00" at the end of a run's name, or "". */
function timeStamp(name: string): string {
  return /(\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d)$/.exec(name)?.[1] ?? "";
}

/** `before` if nothing changed, so that nothing is rendered again. */
function sameRuns(before: readonly Run[], after: readonly Run[]): readonly Run[] {
  return JSON.stringify(before) === JSON.stringify(after) ? before : after;
}

function sameNames(before: ReadonlySet<string>, after: ReadonlySet<string>): ReadonlySet<string> {
  return before.size === after.size && [...after].every((name) => before.has(name))
    ? before
    : after;
}
