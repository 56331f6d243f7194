/** The payload of one page. */
import { useEffect, useRef, useState } from "preact/hooks";
import { fetchInBatches } from "../../api/batches";
import { type DataRequest, fetchData } from "../../api/client";
import { cancelled, isUnreachable, noAnswer } from "../../api/errors";
import type { AnyTool } from "../../tools/tool";
import { TOOLS } from "../../tools/tools";

interface RequestState {
  /** The request that this state belongs to; with another key it is stale. */
  readonly key: string;
  readonly isLoading: boolean;
  readonly loaded: {
    readonly tool: AnyTool;
    readonly name: string;
    readonly run: string;
    readonly payload: unknown;
  } | null;
  /** Set together with `loaded` if the server became unreachable. */
  readonly error: unknown;
}

export interface PayloadState extends RequestState {
  /** Aborts the request in progress. */
  readonly cancel: () => void;
}

/** `request` is null while it is not known what to request. */
export function usePayload(request: DataRequest | null, attempt: number): PayloadState {
  const key =
    request === null
      ? ""
      : JSON.stringify([request.run, request.tool, request.hosts, request.options, attempt]);
  const [state, setState] = useState<RequestState>({
    key: "",
    isLoading: false,
    loaded: null,
    error: null,
  });
  const ongoing = useRef(new AbortController());
  const cancel = () => {
    ongoing.current.abort();
    setState({ key, isLoading: false, loaded: null, error: cancelled() });
  };
  // `key` stands for `request`.
  useEffect(() => {
    if (request === null) return;
    const abort = new AbortController();
    ongoing.current = abort;
    const { run, tool: name } = request;
    setState((before) => ({
      key,
      isLoading: true,
      // The same page of the same run stays visible while other hosts are loading.
      loaded: before.loaded?.name === name && before.loaded.run === run ? before.loaded : null,
      error: null,
    }));
    const { asksItself, isInBatches, load } = TOOLS[name];
    const ended = { key, isLoading: false };
    // The page's code comes from the server, too.
    const module = load().catch(() => Promise.reject(noAnswer()));
    const read = async (json: unknown) => {
      const tool = await module;
      return { ...ended, loaded: { tool, name, run, payload: tool.parse(json) }, error: null };
    };
    const showBatch = async (json: unknown) => {
      const next = await read(json);
      if (!abort.signal.aborted) setState(next);
    };
    const ask = () =>
      isInBatches
        ? fetchInBatches(request, abort.signal, showBatch)
        : fetchData(request, abort.signal);
    Promise.all([module, asksItself ? null : ask()])
      .then(([, json]) => read(json))
      .then(
        (next) => () => next,
        (error: unknown) => (before: RequestState) => ({
          ...ended,
          loaded: isUnreachable(error) ? before.loaded : null,
          error,
        }),
      )
      .then((next) => {
        if (!abort.signal.aborted) setState(next);
      });
    return () => abort.abort();
  }, [key]);
  if (state.key === key) return { ...state, cancel };
  const loaded =
    state.loaded?.name === request?.tool && state.loaded?.run === request?.run
      ? state.loaded
      : null;
  return { key, isLoading: request !== null, loaded, error: null, cancel };
}
