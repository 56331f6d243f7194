/** The answer to what the address asks for; until it is there, the one before. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { View } from "../base/url_state";
import type { Ask } from "./tool";

interface ViewAnswer<T> {
  readonly value: T;
  readonly isLoading: boolean;
  /** Why what was asked for is not shown, "" where it is, or is on its way. */
  readonly error: string;
}

/** Answers that are kept, so that going back asks the server nothing. */
const MOST_KNOWN = 16;
/** Zooming with held keys asks for where it ends. */
const PAUSE_MS = 60;

/** `payload` answers where the address has none of the parameters; `parse` throws PayloadError. */
export function useViewAnswer<T>(
  payload: T,
  view: View,
  ask: Ask,
  parameters: readonly string[],
  parse: (json: unknown) => T,
): ViewAnswer<T> {
  const wanted = Object.fromEntries(
    parameters.filter((name) => view[name]).map((name) => [name, view[name]]),
  );
  const key = JSON.stringify(wanted);
  const state = useRef({ payload, known: new Map([["{}", payload]]), last: payload });
  if (state.current.payload !== payload)
    state.current = { payload, known: new Map([["{}", payload]]), last: payload };
  const { known } = state.current;
  const [, bump] = useState(0);
  const [failed, setFailed] = useState({ key: "", error: "" });
  useEffect(() => {
    setFailed({ key: "", error: "" });
    if (known.has(key)) return;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        known.set(key, parse(await ask(wanted, abort.signal)));
        const [, oldest] = known.keys();
        if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
        if (!abort.signal.aborted) bump((count) => count + 1);
      } catch (thrown) {
        if (!abort.signal.aborted)
          setFailed({ key, error: thrown instanceof Error ? thrown.message : String(thrown) });
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [known, key, ask]);
  const answer = known.get(key);
  if (answer) state.current.last = answer;
  const error = failed.key === key ? failed.error : "";
  return {
    value: answer ?? state.current.last,
    isLoading: answer === undefined && error === "",
    error,
  };
}
