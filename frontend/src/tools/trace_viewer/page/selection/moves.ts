/** Moves from event to event, sequentially: each move starts where the previous one ended. */
import type { TimelineModel } from "../../model/model";
import { sourceOf } from "../../model/sources";
import type { EventKey } from "../../model/types";
import type { Move } from "../../protocol/questions";
import { goTo } from "./reveal";

export interface Moves {
  /** `isRepeated`: the key is held; such moves do not run ahead of the responses. */
  readonly go: (move: Move, isRepeated?: boolean) => void;
  /** Drops pending moves. */
  readonly stop: () => void;
}

export function createMoves(model: TimelineModel): Moves {
  let last = Promise.resolve();
  let waiting = 0;
  let abort = new AbortController();

  const step = async (move: Move, signal: AbortSignal) => {
    const selection = model.selection.peek();
    const host = selection ? model.hosts.peek()[selection.host] : undefined;
    const source = host && selection ? sourceOf(host, selection.part) : null;
    if (signal.aborted || !selection || !source) return;
    const { part, index } = source;
    const query = { host: source.host.host, part, version: index.version };
    try {
      const event = await model.api.place(query, selection.id, move, signal);
      // A selection made meanwhile is kept.
      if (!event || signal.aborted || !isSame(model.selection.peek(), selection)) return;
      goTo(model, { host: source.host.at, part, id: event.id }, event.place);
    } catch (error) {
      if (!signal.aborted) model.error.value = error;
    }
  };

  return {
    go: (move, isRepeated = false) => {
      if (isRepeated && waiting > 0) return;
      const { signal } = abort;
      waiting++;
      last = last.then(() => step(move, signal)).finally(() => waiting--);
    },
    stop: () => {
      abort.abort();
      abort = new AbortController();
    },
  };
}

function isSame(a: EventKey | null, b: EventKey): boolean {
  return a?.id === b.id && a.host === b.host && a.part === b.part;
}
