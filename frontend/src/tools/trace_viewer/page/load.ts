/** Loads the hosts' timelines into the model: recorded events first, then derived ones. */
import { batch, type Signal, signal } from "@preact/signals";
import { describeProblem } from "../../../api/errors";
import { pollProgress } from "../../../api/poll_progress";
import type { Warning } from "../../../api/types";
import { plural, sentenceCase } from "../../../base/format";
import { fetchTimeline } from "../protocol/api";
import type { Part } from "../protocol/payload";
import type { Page } from "./page";
import { type LoadedHost, showHosts } from "./show_hosts";

export interface Loading {
  /** What is being loaded, or "". */
  readonly text: Signal<string>;
  /** Why no host could be shown; null while loading or if any host is shown. */
  readonly error: Signal<unknown>;
  /** Warnings of the files' readers, and about hosts that could not be read. */
  readonly warnings: Signal<readonly Warning[]>;
  /** Whether the model has the requested hosts. */
  readonly isReady: Signal<boolean>;
}

/** What to load, and where to put it. */
interface LoadRequest {
  readonly page: Page;
  readonly hosts: readonly string[];
  /** Timelines that are loaded already; they are not requested again. */
  readonly loadedHosts: Map<string, LoadedHost>;
  readonly loading: Loading;
  /** Called when the hosts are in the model for the first time. */
  readonly opened: () => void;
  readonly abort: AbortSignal;
}

const MAX_CONCURRENT = 4;
const MAX_CONCURRENT_DERIVED = 2;
/** Cached derived events arrive within this time, so that the page is laid out only once. */
const GRACE_MS = 200;

export function createLoading(): Loading {
  return {
    text: signal(""),
    error: signal<unknown>(null),
    warnings: signal<readonly Warning[]>([]),
    isReady: signal(false),
  };
}

/** Resolves when both parts of all hosts are loaded, or when aborted. */
export async function loadHosts(request: LoadRequest): Promise<void> {
  const { page, hosts, loadedHosts: kept, loading, opened: isOpen, abort } = request;
  const failed = new Map<string, Warning>();
  const report = () => {
    const said = hosts.flatMap((host) => partWarnings(kept.get(host), host));
    loading.warnings.value = [...failed.values(), ...said];
  };
  loading.isReady.value = false;
  loading.error.value = null;
  try {
    const error = await openHosts(request, failed);
    if (abort.aborted) return;
    const opened = hosts.filter((host) => kept.has(host));
    if (opened.length === 0) {
      loading.text.value = "";
      loading.error.value = error ?? new Error("There is no host to show.");
      return;
    }
    let isShown = false;
    const derived = deriveHosts(request, opened, failed, () => {
      if (!isShown) return;
      batch(() => showHosts(page, opened, kept));
      report();
    });
    await Promise.race([derived, new Promise((done) => setTimeout(done, GRACE_MS))]);
    if (abort.aborted) return;
    isShown = true;
    batch(() => showHosts(page, opened, kept));
    isOpen();
    loading.isReady.value = true;
    report();
    await derived;
  } catch (error) {
    if (!abort.aborted) throw error;
  }
}

/** Requests recorded events. Returns the first error, or null. */
async function openHosts(
  { page, hosts, loadedHosts: kept, loading, abort }: LoadRequest,
  failed: Map<string, Warning>,
): Promise<unknown> {
  const missing = hosts.filter((host) => !kept.has(host));
  let done = hosts.length - missing.length;
  let first: unknown = null;
  const { say, stop } = sayHowFar(page.run, loading, "Opening", hosts.length, () => done);
  try {
    await runConcurrently(missing, MAX_CONCURRENT, async (host) => {
      try {
        const index = await fetchTimeline(page.run, host, "events", abort);
        kept.set(host, { events: { ...index, host } });
      } catch (error) {
        if (abort.aborted) throw error;
        first ??= error;
        failed.set(`events@${host}`, warningOf(error, host, "events"));
      }
      done++;
      say();
    });
  } finally {
    stop();
  }
  return first;
}

/** Requests derived events; `arrived` is called after each host. */
async function deriveHosts(
  { page, loadedHosts: kept, loading, abort }: LoadRequest,
  hosts: readonly string[],
  failed: Map<string, Warning>,
  arrived: () => void,
): Promise<void> {
  const missing = hosts.filter((host) => kept.get(host)?.derived === undefined);
  let done = hosts.length - missing.length;
  if (missing.length === 0) {
    loading.text.value = "";
    return;
  }
  const task = "Deriving steps and scopes";
  const { say, stop } = sayHowFar(page.run, loading, task, hosts.length, () => done);
  const derive = runConcurrently(missing, MAX_CONCURRENT_DERIVED, async (host) => {
    const entry = kept.get(host)!;
    try {
      const index = await fetchTimeline(page.run, host, "derived", abort);
      const isEmpty =
        index.tracks.length + index.counters.length === 0 && index.initialWindow === null;
      entry.derived = isEmpty ? null : { ...index, host };
    } catch (error) {
      if (abort.aborted) throw error;
      entry.derived = null;
      failed.set(`derived@${host}`, warningOf(error, host, "derived"));
    }
    done++;
    say();
    arrived();
  });
  await derive.finally(stop);
  loading.text.value = "";
}

/** Reports progress: `task` until the server reports details, and the number of hosts done. */
function sayHowFar(
  run: string,
  loading: Loading,
  task: string,
  hosts: number,
  done: () => number,
): { readonly say: () => void; readonly stop: () => void } {
  let doing = task;
  const say = () => {
    loading.text.value = hosts > 1 ? `${doing} (${done()} of ${hosts} hosts done)` : doing;
  };
  say();
  const stop = pollProgress(run, "trace_viewer", ({ text }) => {
    if (text !== "") doing = sentenceCase(text);
    say();
  });
  return { say, stop };
}

function warningOf(error: unknown, host: string, part: Part): Warning {
  const { message, hint } = describeProblem(error);
  const what = part === "derived" ? "Steps and scopes could not be derived: " : "";
  return { code: "timeline", message: `${what}${message}`, host, hint };
}

function partWarnings(kept: LoadedHost | undefined, host: string): Warning[] {
  const indexes = kept ? [kept.events, ...(kept.derived ? [kept.derived] : [])] : [];
  return indexes.flatMap((index) => [
    ...index.warnings.map((warning) => ({ ...warning, host: warning.host || host })),
    ...(index.unplaced > 0
      ? [
          {
            code: "unplaced",
            message: `${plural(index.unplaced, "event")} in the file ${index.unplaced === 1 ? "is a sum" : "are sums"} without a position in time`,
            host,
            hint: "These are not drawn, but included in statistics of other pages.",
          },
        ]
      : []),
  ]);
}

/** Runs `work` on `items` in order, at most `atOnce` at a time. Rejects with the first error. */
async function runConcurrently<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) await work(items[next++]);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
