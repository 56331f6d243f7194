/** The state of the page: the model shared with the canvas, and the state of the panes. */
import { signal } from "@preact/signals";
import { createViewApi } from "../data/view_api";
import { type HostGroup, idleKey } from "../model/lanes/groups";
import { createModel } from "../model/model";
import type { HostTimeline, Span } from "../model/types";
import type { AggregateBy } from "../protocol/answers";
import type { PartOf } from "../protocol/api";
import type { Part, TimelineIndex } from "../protocol/payload";
import type { Search } from "../protocol/questions";
import type { DrawerTab } from "./address";

export type Page = Readonly<ReturnType<typeof createPage>>;

/** Only for this search; another search lists all its hits. */
interface ListedSpan extends Span {
  readonly search: Search;
}

export function createPage(run: string) {
  return {
    run,
    model: createModel(createViewApi(run)),
    /** The open tab of the drawer; null if it is closed. */
    tab: signal<DrawerTab | null>(null),
    by: signal<AggregateBy>("name"),
    calls: signal({ isTree: false, isBottomUp: false, isByTrack: false }),
    /** Whether events are listed instead of drawn. */
    isList: signal(false),
    /** The key of the track whose events are listed, or "hits"; "" if none was chosen. */
    listed: signal(""),
    /** Whether the current selection leaves the drawer unchanged. */
    isTabKept: { current: false },
    /** Whether to go to the first hit, as for links with a search. */
    isHitWanted: { current: false },
    /** Whether to scroll to the hits in the range of a link. */
    isRangeWanted: { current: false },
    /** The time span whose hits are listed; null for the whole trace. */
    listedSpan: signal<ListedSpan | null>(null),
    /** The keys of tracks that the page pins unless the user pins others. */
    launchers: signal<readonly string[]>([]),
    /** Whether it is known which tracks have events in the view; until then lanes would jump. */
    isLaidOut: signal(false),
    /** The view set by the page itself; if it is unchanged, the user has not moved it. */
    initialView: signal<Span | null>(null),
    /** The remaining part of a view whose address extends beyond the trace. */
    cutView: signal<Span | null>(null),
  };
}

/** Selects without opening the details. */
export function keepTab(page: Page, selectSomething: () => void): void {
  page.isTabKept.current = true;
  selectSomething();
  page.isTabKept.current = false;
}

/** Lists the hits in view, if there is a search. */
export function listHitsInView({ model, listedSpan }: Page): void {
  const search = model.search.peek();
  const { from, to } = model.view.peek();
  listedSpan.value = search && { search, from, to };
}

/** One part of one host, for requests about it; null if it is not loaded yet. */
export function partOf(run: string, host: HostTimeline | undefined, part: Part): PartOf | null {
  const index = indexOf(host, part);
  return host && index ? { run, host: host.host, part, version: index.version } : null;
}

export function indexOf(host: HostTimeline | undefined, part: Part): TimelineIndex | null {
  return host === undefined ? null : part === "events" ? host.events : host.derived;
}

/** Name scopes and pinned threads of up to this depth are expanded; deeper ones are collapsed. */
const DEPTHS = 3;

/** With more hosts, each is a busy strip at first. */
const FEW_HOSTS = 4;

/**
 * The default arrangement: many hosts are busy strips, idle tracks are folded into one line, and
 * name scopes, which repeat ops, and `launchers`, which are pinned, are collapsed.
 */
export function initiallyFolded(
  groups: readonly HostGroup[],
  launchers: readonly string[],
): ReadonlySet<string> {
  const low = groups
    .flatMap((group) => group.sections.flatMap((section) => section.tracks))
    .filter(({ key, track }) => track.kind === "scopes" || launchers.includes(key))
    .filter(({ track }) => track.rows > DEPTHS);
  return new Set([
    ...(groups.length > FEW_HOSTS ? groups.map((group) => group.key) : []),
    ...groups.flatMap(({ sections }) => sections.map(({ key }) => idleKey(key))),
    ...low.map((item) => item.key),
  ]);
}

export function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, index) => key === b[index]);
}

/** Keys that are in exactly one of the sets. */
export function symmetricDifference(a: ReadonlySet<string>, b: ReadonlySet<string>): string[] {
  return [...[...a].filter((key) => !b.has(key)), ...[...b].filter((key) => !a.has(key))];
}

/** `span` with free room on both sides, so that its ends are visible. */
export function withMargins({ from, to }: Span, share = 0.06): Span {
  const room = (to - from) * share;
  return { from: from - room, to: to + room };
}
