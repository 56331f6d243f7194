/** Search results of all hosts and parts in time order, page by page. */
import { effect, signal, untracked } from "@preact/signals";
import type { Span } from "../model/types";
import { type Page, partOf } from "../page/page";
import { fetchSearch, isStale } from "../protocol/api";
import { PARTS } from "../protocol/payload";
import type { Search } from "../protocol/questions";
import {
  compareHits,
  firstAfter,
  type Hit,
  type HitSource,
  lastBefore,
  mainWithin,
  PAGE,
  receive,
  takeInOrder,
} from "./hit_sources";

interface SearchState {
  readonly search: Search | null;
  /** In the whole trace. */
  readonly count: number;
  /** The span whose hits are listed, or null for the whole trace. */
  readonly span: Span | null;
  /** Number of hits in that span. */
  readonly listed: number;
  /** In time order; later hits are not loaded yet. */
  readonly hits: readonly Hit[];
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly error: unknown;
}

export type SearchResults = Readonly<ReturnType<typeof createSearchResults>>;

const NONE: SearchState = {
  search: null,
  count: 0,
  span: null,
  listed: 0,
  hits: [],
  hasMore: false,
  isLoading: false,
  error: null,
};
const SETTLE_MS = 200;

export function createSearchResults(page: Page) {
  const { model } = page;
  const state = signal<SearchState>(NONE);
  const inView = signal<number | null>(null);
  let sources: HitSource[] = [];
  let abort = new AbortController();

  const fail = (error: unknown) => {
    if (isStale(error)) model.stale.value++;
    state.value = { ...state.peek(), isLoading: false, error };
  };
  const countIn = async (
    search: Search,
    span: Span | null,
    aborted: AbortSignal,
  ): Promise<number> => {
    const answers = await Promise.all(
      sources.map((source) =>
        fetchSearch(source.of, search, { limit: 0, ...within(source, span) }, aborted),
      ),
    );
    return answers.reduce((sum, answer) => sum + answer.count, 0);
  };
  const load = async (wanted: readonly HitSource[], search: Search, isFirst: boolean) => {
    const { signal: aborted } = abort;
    const { span } = state.peek();
    state.value = { ...state.peek(), isLoading: true };
    try {
      const answers = await Promise.all(
        wanted.map((source) =>
          fetchSearch(
            source.of,
            search,
            { limit: PAGE, after: source.cursor, ...within(source, span) },
            aborted,
          ),
        ),
      );
      const inSpan = answers.reduce((sum, answer) => sum + answer.count, 0);
      const all = isFirst && span ? await countIn(search, null, aborted) : inSpan;
      if (aborted.aborted) return;
      for (const [at, answer] of answers.entries()) receive(wanted[at], answer);
      const merged = takeInOrder(sources);
      const before = state.peek();
      state.value = {
        search,
        count: isFirst ? all : before.count,
        span,
        listed: isFirst ? inSpan : before.listed,
        hits: isFirst ? merged : [...before.hits, ...merged],
        hasMore: sources.some((source) => source.cursor !== "" || source.waiting.length > 0),
        isLoading: false,
        error: null,
      };
    } catch (error) {
      if (!aborted.aborted) fail(error);
    }
  };

  const stopSearching = effect(() => {
    const search = model.search.value;
    const hosts = model.hosts.value;
    const listed = page.listedSpan.value;
    abort.abort();
    abort = new AbortController();
    if (search === null || hosts.length === 0) {
      sources = [];
      state.value = NONE;
      return;
    }
    sources = hosts.flatMap((host) =>
      PARTS.flatMap((part) => {
        const of = partOf(page.run, host, part);
        return of ? [{ of, host: host.at, offsetPs: host.offsetPs, waiting: [], cursor: "" }] : [];
      }),
    );
    const span = listed?.search === search ? { from: listed.from, to: listed.to } : null;
    state.value = { ...NONE, search, span, isLoading: true };
    untracked(() => void load(sources, search, true));
  });

  let counted: Search | null = null;
  const stopCounting = effect(() => {
    const { from, to } = model.view.value;
    const { search, count, span, hits, hasMore, isLoading } = state.value;
    // The previous search's count in the view does not apply to this one.
    if (search !== counted) inView.value = null;
    counted = search;
    if (search === null || (isLoading && hits.length === 0)) return;
    if (!hasMore && span === null) {
      inView.value = hits.filter(
        (hit) => hit.from < to && hit.from + hit.durationPs >= from,
      ).length;
      return;
    }
    const aborted = new AbortController();
    const timer = setTimeout(async () => {
      try {
        inView.value = Math.min(await countIn(search, { from, to }, aborted.signal), count);
      } catch {
        // The search itself reports the error.
      }
    }, SETTLE_MS);
    return () => {
      clearTimeout(timer);
      aborted.abort();
    };
  });

  return {
    state,
    /** Number of hits in the view, or null if not known yet. */
    inView,
    /** Loads the next page. */
    more: () => {
      const { search, isLoading, hasMore, error } = state.peek();
      if (search === null || isLoading || !hasMore || error !== null) return;
      const dry = sources.filter((source) => source.waiting.length === 0 && source.cursor !== "");
      void load(dry, search, false);
    },
    /** The next or previous hit from the selected event, or else from the view. */
    near: async (direction: 1 | -1): Promise<Hit | null> => {
      const { search } = state.peek();
      if (search === null) return null;
      const { signal: aborted } = abort;
      const selection = model.selection.peek();
      const host = selection && model.hosts.peek()[selection.host];
      const place = selection?.place;
      const origin =
        host && place
          ? { ...selection, from: place.startPs + host.offsetPs }
          : { host: -1, part: "events" as const, id: -1, from: model.view.peek().from };
      const finder = direction > 0 ? firstAfter : lastBefore;
      try {
        const nearest = await Promise.all(
          sources.map((source) => finder(source, search, origin, model.extent.peek(), aborted)),
        );
        const hits = nearest.filter((hit) => hit !== null).sort(compareHits);
        return (direction > 0 ? hits[0] : hits.at(-1)) ?? null;
      } catch (error) {
        if (!aborted.aborted) fail(error);
        return null;
      }
    },
    /** For each host and part with hits in the view, one on its busiest track, busiest first. */
    mainInView: async () => {
      const { search } = state.peek();
      if (search === null) return [];
      const { signal: aborted } = abort;
      try {
        const mains = await Promise.all(
          sources.map((source) => mainWithin(source, search, model.view.peek(), aborted)),
        );
        const known = mains.filter((main) => main !== null);
        return known.sort((a, b) => b.coveredPs - a.coveredPs).map(({ hit }) => hit);
      } catch (error) {
        if (!aborted.aborted) fail(error);
        return [];
      }
    },
    dispose: () => {
      stopSearching();
      stopCounting();
      abort.abort();
    },
  };
}

function within({ offsetPs }: HitSource, span: Span | null) {
  return span ? { span: { fromPs: span.from - offsetPs, toPs: span.to - offsetPs } } : {};
}
