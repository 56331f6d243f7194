/** Brings the hosts' timelines into the model: what the files hold first, what was worked out later. */
import { batch, type Signal, signal } from "@preact/signals";
import { fetchProgress } from "../../api/client";
import { describeProblem } from "../../api/errors";
import type { Warning } from "../../api/types";
import { plural } from "../../base/format";
import { fetchTimeline } from "./api";
import { type HostTimeline, placeHosts, type Span, type TimelineModel } from "./model";
import { differing, type Page, padded, usuallyFolded } from "./page";
import type { Part, TimelineIndex } from "./payload";

export interface Loading {
  /** What is on its way, "" when nothing is. */
  readonly text: Signal<string>;
  /** Why no host could be shown; null while there is hope. */
  readonly error: Signal<unknown>;
  /** What the files' readers had to say, and hosts that could not be read. */
  readonly warnings: Signal<readonly Warning[]>;
  /** Whether the hosts of the model are those that were asked for. */
  readonly isReady: Signal<boolean>;
}

export interface Kept {
  readonly events: TimelineIndex;
  /** null: there is none, or it failed; undefined: not asked for yet. */
  derived?: TimelineIndex | null;
}

const AT_ONCE = 4;
const POLL_MS = 500;

export function createLoading(): Loading {
  return {
    text: signal(""),
    error: signal<unknown>(null),
    warnings: signal<readonly Warning[]>([]),
    isReady: signal(false),
  };
}

/**
 * Loads `hosts`, of which those that `kept` has are not asked for again. Ends when both parts of
 * all of them are there, or with the signal.
 */
export async function loadHosts(
  page: Page,
  hosts: readonly string[],
  kept: Map<string, Kept>,
  loading: Loading,
  /** Called when the hosts are in the model for the first time. */
  isOpen: () => void,
  abort: AbortSignal,
): Promise<void> {
  const { run } = page;
  const failures: unknown[] = [];
  const warnings = new Map<string, Warning>();
  const fail = (host: string, part: Part, error: unknown) => {
    const { message, hint } = describeProblem(error);
    const what = part === "derived" ? "Steps and scopes could not be worked out" : "";
    const said = what === "" ? message : `${what}: ${message}`;
    warnings.set(`${part}@${host}`, { code: "timeline", message: said, host, hint });
  };
  const report = () => {
    const shown = hosts.flatMap((host) => partWarnings(kept.get(host), host));
    loading.warnings.value = [...warnings.values(), ...shown];
  };
  loading.isReady.value = false;
  loading.error.value = null;
  loading.text.value = hosts.length > 1 ? `Opening ${plural(hosts.length, "host")}` : "Opening";
  const stopPolling = pollProgress(run, abort, (text) => {
    if (!loading.isReady.peek()) loading.text.value = text;
  });
  try {
    const missing = hosts.filter((host) => !kept.has(host));
    let done = hosts.length - missing.length;
    await several(missing, AT_ONCE, async (host) => {
      try {
        kept.set(host, { events: await fetchTimeline(run, host, "events", abort) });
      } catch (error) {
        if (abort.aborted) throw error;
        failures.push(error);
        fail(host, "events", error);
      }
      done++;
      if (hosts.length > 1) loading.text.value = `Opened ${done} of ${hosts.length} hosts`;
    });
  } finally {
    stopPolling();
  }
  if (abort.aborted) return;
  const opened = hosts.filter((host) => kept.has(host));
  if (opened.length === 0) {
    loading.text.value = "";
    loading.error.value = failures[0] ?? new Error("There is no host to show.");
    return;
  }
  batch(() => showHosts(page, opened, kept));
  isOpen();
  loading.isReady.value = true;
  report();
  const others = opened.filter((host) => kept.get(host)?.derived === undefined);
  let derived = opened.length - others.length;
  const say = () => {
    const count = opened.length > 1 ? ` of ${derived} of ${opened.length} hosts` : "";
    loading.text.value = derived < opened.length ? `Working out steps and scopes${count}` : "";
  };
  say();
  await several(others, 2, async (host) => {
    const entry = kept.get(host)!;
    try {
      const index = await fetchTimeline(run, host, "derived", abort);
      entry.derived = index.tracks.length > 0 || index.counters.length > 0 ? index : null;
      if (entry.derived === null && index.home) entry.derived = index;
    } catch (error) {
      if (abort.aborted) throw error;
      entry.derived = null;
      fail(host, "derived", error);
    }
    derived++;
    batch(() => {
      if (entry.derived) showHosts(page, opened, kept);
      say();
      report();
    });
  }).catch((error: unknown) => {
    if (!abort.aborted) throw error;
  });
}

/** Puts the hosts into the model; what is on the screen stays where it is. */
function showHosts(page: Page, hosts: readonly string[], kept: ReadonlyMap<string, Kept>): void {
  const { model } = page;
  const before = model.hosts.peek();
  const after = placeHosts(
    hosts.map((host) => {
      const { events, derived } = kept.get(host)!;
      return { events: { ...events, host }, derived: derived ?? null };
    }),
  );
  const anchor = before.length > 0 && hasMoved(page) ? anchorOf(model) : null;
  const isResting = !hasMoved(page);
  const folds = differing(model.arrangement.peek().collapsed, usuallyFolded(model.groups.peek()));
  model.hosts.value = after;
  const collapsed = new Set(differing(new Set(folds), usuallyFolded(model.groups.value)));
  if (differing(collapsed, model.arrangement.peek().collapsed).length > 0)
    model.arrangement.value = { ...model.arrangement.peek(), collapsed };
  const common = before.find((host) => after.some((other) => other.host === host.host));
  const shift = common
    ? after.find((host) => host.host === common.host)!.offsetPs - common.offsetPs
    : 0;
  if (shift !== 0) shiftTimes(page, shift);
  moveSelection(model, before, after);
  if (isResting) rest(page);
  if (anchor) {
    const lane = model.lanes.value.byKey.get(anchor.key);
    if (lane) model.scrollTop.value = Math.max(lane.top - anchor.above, 0);
  }
}

/** The page's own view: the median step where one is known, else everything. */
function rest({ model, restingView }: Page): void {
  const extent = model.extent.value;
  const hosts = model.hosts.peek();
  const host = hosts.find(({ events, derived }) => (derived?.home ?? events.home) !== null);
  const home = host && (host.derived?.home ?? host.events.home);
  const view = home
    ? padded({ from: home.fromPs + host.offsetPs, to: home.toPs + host.offsetPs })
    : padded(extent, 0.01);
  restingView.value = view;
  model.view.value = view;
}

/** Whether the view is elsewhere than where the page put it. */
export function hasMoved({ model, restingView }: Page): boolean {
  return (
    model.hosts.peek().length > 0 &&
    (model.view.peek() !== restingView.peek() || model.scrollTop.peek() > 0)
  );
}

/** The first lane on the screen, and how far its top is above the edge. */
function anchorOf({ lanes, scrollTop }: TimelineModel): { key: string; above: number } | null {
  const top = scrollTop.peek();
  const lane = lanes.peek().scrolled.find((one) => one.top + one.height > top);
  return lane ? { key: lane.key, above: lane.top - top } : null;
}

function shiftTimes({ model, restingView }: Page, by: number): void {
  const moved = <T extends Span>(span: T): T => ({
    ...span,
    from: span.from + by,
    to: span.to + by,
  });
  const view = moved(model.view.peek());
  if (restingView.peek() === model.view.peek()) restingView.value = view;
  model.view.value = view;
  const range = model.range.peek();
  if (range) model.range.value = moved(range);
  model.marks.value = model.marks.peek().map(moved);
}

function moveSelection(
  model: TimelineModel,
  before: readonly HostTimeline[],
  after: readonly HostTimeline[],
): void {
  model.hover.value = null;
  const selection = model.selection.peek();
  if (selection === null || before.length === 0) return;
  const name = before[selection.host]?.host;
  const at = after.findIndex((host) => host.host === name);
  if (at === selection.host) return;
  model.selection.value = at < 0 ? null : { ...selection, host: at };
  model.flows.value = [];
}

function partWarnings(kept: Kept | undefined, host: string): Warning[] {
  const indexes = kept ? [kept.events, ...(kept.derived ? [kept.derived] : [])] : [];
  return indexes.flatMap((index) => [
    ...index.warnings.map((warning) => ({ ...warning, host: warning.host || host })),
    ...(index.unplaced > 0
      ? [
          {
            code: "unplaced",
            message: `${plural(index.unplaced, "event")} of the file are sums without a place in time`,
            host,
            hint: "They are not drawn; statistics of other pages count them.",
          },
        ]
      : []),
  ]);
}

/** Runs `work` over `items`, so many at a time, in order. Fails with the first that does. */
async function several<T>(
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

function pollProgress(run: string, abort: AbortSignal, report: (text: string) => void): () => void {
  let isStopped = false;
  const poll = async () => {
    try {
      const { text } = await fetchProgress(run, "trace_viewer", abort);
      if (!isStopped && text !== "") report(text);
    } catch {
      // The requests themselves say what is wrong.
    }
    if (!isStopped) timer = setTimeout(poll, POLL_MS);
  };
  let timer = setTimeout(poll, POLL_MS);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
