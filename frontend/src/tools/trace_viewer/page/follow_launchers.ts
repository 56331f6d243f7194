/** Pins the threads that launch kernels if many GPUs push the host's threads off the screen. */
import { batch, effect } from "@preact/signals";
import { trackKey } from "../model/lanes/groups";
import type { HostTimeline } from "../model/types";
import { fetchSearch } from "../protocol/api";
import { initiallyFolded, isSame, type Page, partOf, symmetricDifference } from "./page";

/** With fewer GPUs, there is room for the threads below them. */
const MANY_GPUS = 4;
const MOST_PINNED = 3;
/** Threads with fewer launches than this share of the first one's are left out. */
const LEAST_SHARE = 0.1;
const GPU = "/device:GPU:";
const LAUNCHES = { text: "category:launch", isRegex: false, isCase: false };

/** Keeps the page's own pins up to date with its hosts. Returns a stop function. */
export function followLaunchers(page: Page): () => void {
  let of = "";
  let aborted = new AbortController();
  const stop = effect(() => {
    const hosts = page.model.hosts.value;
    const key = hosts.map(({ host, events }) => `${host}\n${events.version}`).join("\n");
    if (key === of) return;
    of = key;
    aborted.abort();
    aborted = new AbortController();
    const { signal } = aborted;
    findLaunchers(page, hosts, signal).then(
      (launchers) => {
        if (!signal.aborted) pinLaunchers(page, launchers);
      },
      () => {
        // On failure nothing is pinned; requests for tiles report the error.
      },
    );
  });
  return () => {
    stop();
    aborted.abort();
  };
}

/** The keys of the threads with the most launches on the first host with many GPUs. */
async function findLaunchers(
  page: Page,
  hosts: readonly HostTimeline[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const host = hosts.find(({ events }) => gpusOf(events.sections) >= MANY_GPUS);
  const of = partOf(page.run, host, "events");
  if (!host || !of) return [];
  const { tracks } = await fetchSearch(of, LAUNCHES, { limit: 0 }, signal);
  const { sections } = host.events;
  const threads = host.events.tracks
    .filter(({ kind, section }) => kind === "thread" && sections[section]?.kind === "host")
    .map(({ id }) => ({ id, launches: tracks.get(id) ?? 0 }))
    .sort((a, b) => b.launches - a.launches);
  const least = Math.max((threads[0]?.launches ?? 0) * LEAST_SHARE, 1);
  return threads
    .filter(({ launches }) => launches >= least)
    .slice(0, MOST_PINNED)
    .map(({ id }) => trackKey(host.host, "events", id));
}

function gpusOf(sections: readonly { readonly name: string }[]): number {
  return sections.filter(({ name }) => name.startsWith(GPU)).length;
}

/** The user's own pins are kept. */
function pinLaunchers(page: Page, launchers: readonly string[]): void {
  const { model } = page;
  const before = page.launchers.peek();
  if (isSame(before, launchers)) return;
  const groups = model.groups.peek();
  const { collapsed, pinned } = model.arrangement.peek();
  const folds = symmetricDifference(collapsed, initiallyFolded(groups, before));
  batch(() => {
    page.launchers.value = launchers;
    model.arrangement.value = {
      ...model.arrangement.peek(),
      collapsed: new Set(symmetricDifference(new Set(folds), initiallyFolded(groups, launchers))),
      pinned: isSame(pinned, before) ? launchers : pinned,
    };
  });
}
