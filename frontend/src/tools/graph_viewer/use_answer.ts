/** Loads further data about a program from the server. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Ask } from "../tool";
import type { ProgramGraph } from "./payload";

interface ProgramAnswer<T> {
  /** null until it is loaded. */
  readonly value: T | null;
  /** Why loading failed, or "". */
  readonly error: string;
}

const NOTHING = { value: null, error: "" };

/** `parse` throws PayloadError. */
export function useAnswer<T>(
  ask: Ask,
  { host, programId }: ProgramGraph,
  parameters: { readonly type: string; readonly node_name?: string },
  parse: (json: unknown) => T,
): ProgramAnswer<T> {
  const [answer, setAnswer] = useState<ProgramAnswer<T> & { readonly key: string }>({
    ...NOTHING,
    key: "",
  });
  const latest = useRef(ask);
  latest.current = ask;
  const wanted = { program_id: programId, program_host: host, ...parameters };
  const key = JSON.stringify(wanted);
  useEffect(() => {
    const abort = new AbortController();
    (async () => {
      try {
        const value = parse(await latest.current(wanted, abort.signal));
        if (!abort.signal.aborted) setAnswer({ key, value, error: "" });
      } catch (thrown) {
        const error = thrown instanceof Error ? thrown.message : String(thrown);
        if (!abort.signal.aborted) setAnswer({ key, value: null, error });
      }
    })();
    return () => abort.abort();
  }, [key]);
  return answer.key === key ? answer : NOTHING;
}
