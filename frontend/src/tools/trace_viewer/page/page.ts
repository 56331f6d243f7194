/** The state of the page: the model that it shares with the canvas, and the panes around that. */
import { type Signal, signal } from "@preact/signals";
import { createViewApi } from "../data/view_api";
import { type HostGroup, idleKey } from "../model/groups";
import { createModel, type TimelineModel } from "../model/model";
import type { HostTimeline, Span } from "../model/types";
import type { AggregateBy } from "../protocol/answers";
import type { PartOf } from "../protocol/api";
import type { Part, TimelineIndex } from "../protocol/payload";
import type { Search } from "../protocol/questions";
import type { CallsView, DrawerTab } from "./address";

export interface Page {
  readonly run: string;
  readonly model: TimelineModel;
  /** What the drawer shows; null: it is closed. */
  readonly tab: Signal<DrawerTab | null>;
  readonly by: Signal<AggregateBy>;
  readonly calls: Signal<CallsView>;
  /** Whether events are listed instead of drawn. */
  readonly isList: Signal<boolean>;
  /** The key of the track whose events are listed, or "hits"; "" if none was chosen. */
  readonly listed: Signal<string>;
  /** Whether what is selected now leaves the drawer as it is. */
  readonly isTabKept: { current: boolean };
  /** Whether the first hit is to be gone to: a link that searches is about what it finds. */
  readonly isHitWanted: { current: boolean };
  /** Whether the hits in the range of a link are to be brought onto the screen. */
  readonly isRangeWanted: { current: boolean };
  /** What of the trace the hits of a search are listed of, null: of all of it. */
  readonly listedSpan: Signal<ListedSpan | null>;
  /** Keys of the tracks that are pinned unless the user pins others. */
  readonly launchers: Signal<readonly string[]>;
  /** Whether it is known which tracks have events in the view; lanes would jump before. */
  readonly isLaidOut: Signal<boolean>;
  /** Where the page itself put the view: if the view is still there, the user has not moved it. */
  readonly initialView: Signal<Span | null>;
  /** What is left of a view that an address took beyond the trace. */
  readonly cutView: Signal<Span | null>;
}

/** It holds for this search alone: another one lists all that it finds. */
interface ListedSpan extends Span {
  readonly search: Search;
}

export function createPage(run: string): Page {
  return {
    run,
    model: createModel(createViewApi(run)),
    tab: signal<DrawerTab | null>(null),
    by: signal<AggregateBy>("name"),
    calls: signal({ isTree: false, isBottomUp: false, isByTrack: false }),
    isList: signal(false),
    listed: signal(""),
    isTabKept: { current: false },
    isHitWanted: { current: false },
    isRangeWanted: { current: false },
    listedSpan: signal<ListedSpan | null>(null),
    launchers: signal<readonly string[]>([]),
    isLaidOut: signal(false),
    initialView: signal<Span | null>(null),
    cutView: signal<Span | null>(null),
  };
}

/** Selects without opening what is known of the selection. */
export function keepTab(page: Page, selectSomething: () => void): void {
  page.isTabKept.current = true;
  selectSomething();
  page.isTabKept.current = false;
}

/** Lists the hits that the view shows, where something is searched for. */
export function listHitsInView({ model, listedSpan }: Page): void {
  const search = model.search.peek();
  const { from, to } = model.view.peek();
  listedSpan.value = search && { search, from, to };
}

/** One part of one host, for questions about it; null where it is not there yet. */
export function partOf(run: string, host: HostTimeline | undefined, part: Part): PartOf | null {
  const index = indexOf(host, part);
  return host && index ? { run, host: host.host, part, version: index.version } : null;
}

export function indexOf(host: HostTimeline | undefined, part: Part): TimelineIndex | null {
  return host === undefined ? null : part === "events" ? host.events : host.derived;
}

/** Depths of name scopes and of pinned threads that are shown one by one; more are one row. */
const DEPTHS = 3;

/** More hosts than these are strips first. */
const FEW_HOSTS = 4;

/**
 * Many hosts are strips first; tracks without events are one line; and name scopes, which repeat what
 * ops say, are low, as are `launchers`, which are pinned.
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
  return a.length === b.length && a.every((key, at) => key === b[at]);
}

/** Keys that are in exactly one of the sets. */
export function symmetricDifference(a: ReadonlySet<string>, b: ReadonlySet<string>): string[] {
  return [...[...a].filter((key) => !b.has(key)), ...[...b].filter((key) => !a.has(key))];
}

/** `span` with free room on both sides, so that its ends are seen. */
export function withMargins({ from, to }: Span, share = 0.06): Span {
  const room = (to - from) * share;
  return { from: from - room, to: to + room };
}
