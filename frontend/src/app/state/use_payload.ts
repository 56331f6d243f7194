/** The payload of one page, with what the server is doing until it answers. */
import { useEffect, useState } from "preact/hooks";
import { type DataRequest, fetchData, fetchProgress } from "../../api/client";
import type { Progress } from "../../api/types";
import type { AnyTool } from "../../tools/tool";
import { TOOLS } from "../../tools/tools";

export interface PayloadState {
  /** What the state is of: another key means that it is not for this page. */
  readonly key: string;
  readonly isLoading: boolean;
  readonly loaded: {
    readonly tool: AnyTool;
    readonly name: string;
    readonly run: string;
    readonly payload: unknown;
  } | null;
  readonly error: unknown;
  /** null before there is anything to say. */
  readonly progress: Progress | null;
}

const QUIET_MS = 500;
const POLL_MS = 500;

/** `request` null: nothing can be asked for yet. */
export function usePayload(request: DataRequest | null, attempt: number): PayloadState {
  const key =
    request === null
      ? ""
      : JSON.stringify([request.run, request.tool, request.hosts, request.options, attempt]);
  const [state, setState] = useState<PayloadState>({
    key: "",
    isLoading: false,
    loaded: null,
    error: null,
    progress: null,
  });
  // The key is the request.
  useEffect(() => {
    if (request === null) return;
    const abort = new AbortController();
    const { run, tool: name } = request;
    setState((before) => ({
      key,
      isLoading: true,
      // The same page of the same run stays while other hosts are on the way.
      loaded: before.loaded?.name === name && before.loaded.run === run ? before.loaded : null,
      error: null,
      progress: null,
    }));
    const { asksItself, load } = TOOLS[name];
    const stopPolling = asksItself
      ? () => {}
      : pollProgress(request, abort.signal, (progress) =>
          setState((before) => (before.isLoading ? { ...before, progress } : before)),
        );
    Promise.all([load(), asksItself ? null : fetchData(request, abort.signal)])
      .then(([tool, json]) => ({ tool, name, run, payload: tool.parse(json) }))
      .then(
        (loaded) => ({ key, isLoading: false, loaded, error: null, progress: null }),
        (error: unknown) => ({ key, isLoading: false, loaded: null, error, progress: null }),
      )
      .then((next) => {
        stopPolling();
        if (!abort.signal.aborted) setState(next);
      });
    return () => {
      abort.abort();
      stopPolling();
    };
  }, [key]);
  if (state.key === key) return state;
  const loaded =
    state.loaded?.name === request?.tool && state.loaded?.run === request?.run
      ? state.loaded
      : null;
  return { key, isLoading: request !== null, loaded, error: null, progress: null };
}

function pollProgress(
  { run, tool }: DataRequest,
  signal: AbortSignal,
  report: (progress: Progress) => void,
): () => void {
  let isStopped = false;
  const poll = async () => {
    if (isStopped) return;
    try {
      const progress = await fetchProgress(run, tool, signal);
      if (!isStopped) report(progress);
    } catch {
      // The request itself says what is wrong.
    }
    timer = setTimeout(poll, POLL_MS);
    if (isStopped) clearTimeout(timer);
  };
  let timer = setTimeout(poll, QUIET_MS);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
