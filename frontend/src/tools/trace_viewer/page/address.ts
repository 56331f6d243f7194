/** The part of the page's state that is stored in the address. */
import type { View } from "../../../base/url_state";
import { COLORS, type PointerTool } from "../model/types";
import type { AggregateBy } from "../protocol/answers";
import type { Part } from "../protocol/payload";
import { NO_FILTER } from "../protocol/questions";

/** ps since the start of the earliest host's recording, independent of the shown hosts. */
export interface AddressSpan {
  readonly from: number;
  readonly to: number;
}

export type DrawerTab = "event" | "selection" | "hits" | "statistics" | "calls";
export const TABS: readonly DrawerTab[] = ["event", "selection", "hits", "statistics", "calls"];

/** How calls are shown; by default as a flame graph, top down, for all tracks together. */
export interface CallsView {
  readonly isTree: boolean;
  readonly isBottomUp: boolean;
  readonly isByTrack: boolean;
}

export type Address = Readonly<ReturnType<typeof readAddress>>;

/** The value for no pins at all. */
const NO_PINS = "none";
const PS_PER_MS = 1e9;
const PS_PER_US = 1e6;

const MODES: readonly PointerTool[] = ["select", "pan", "zoom", "timing"];
const GROUPINGS: readonly AggregateBy[] = ["name", "category", "track"];

export function readAddress(view: View) {
  const from = readMs(view.from_ms);
  const to = readMs(view.to_ms);
  return {
    /** null for the page's default view. */
    span: to > from ? { from, to } : null,
    /** A step to look up by its label or number. */
    step: view.step ?? "",
    event: readEvent(view.event ?? ""),
    range: readRange(view),
    marks: readMarks(view.marks),
    search: view.q
      ? { text: view.q, isRegex: view.regex === "1", isCase: view.case === "1" }
      : null,
    filter: {
      ...NO_FILTER,
      name: view.only ?? "",
      isRegex: view.only_regex === "1",
      isCase: view.only_case === "1",
      categories: readList(view.category),
      minPs: Math.max(Number(view.min_us ?? 0) * PS_PER_US, 0) || 0,
    },
    color: oneOf(COLORS, view.color),
    tool: oneOf(MODES, view.mode),
    /** null for the pins that the page chooses. */
    pinned: view.pin === undefined ? null : readList(view.pin === NO_PINS ? "" : view.pin),
    hidden: readList(view.hide),
    /** Keys that are collapsed or expanded contrary to the default. */
    folds: readList(view.fold),
    order: readList(view.order),
    trackFilter: view.tracks ?? "",
    isIdleShown: view.idle === "shown",
    tab: TABS.find((tab) => tab === view.tab) ?? null,
    by: oneOf(GROUPINGS, view.by),
    calls: readCalls(view.calls),
    isList: view.as === "list",
  };
}

/** All entries of the page's address; null for defaults. */
export function writeAddress(address: Address): Readonly<Record<string, string | null>> {
  const { span, event, range, search, filter } = address;
  return {
    from_ms: span && writeMs(span.from),
    to_ms: span && writeMs(span.to),
    step: address.step || null,
    event: event && `${event.part[0]}${event.id}@${event.host}`,
    range: range && writeSpan(range),
    range_tracks: range?.tracks ? writeList(range.tracks) : null,
    marks:
      address.marks.map((mark) => `${writeSpan(mark)}~${escapeItem(mark.label)}`).join() || null,
    q: search ? search.text : null,
    regex: flag(search?.isRegex),
    case: flag(search?.isCase),
    only: filter.name || null,
    only_regex: flag(filter.name !== "" && filter.isRegex),
    only_case: flag(filter.name !== "" && filter.isCase),
    category: writeList(filter.categories),
    min_us: filter.minPs > 0 ? String(filter.minPs / PS_PER_US) : null,
    color: unusual(COLORS, address.color),
    mode: unusual(MODES, address.tool),
    pin: address.pinned && (writeList(address.pinned) ?? NO_PINS),
    hide: writeList(address.hidden),
    fold: writeList(address.folds),
    order: writeList(address.order),
    tracks: address.trackFilter || null,
    idle: address.isIdleShown ? "shown" : null,
    tab: address.tab,
    by: unusual(GROUPINGS, address.by),
    calls: writeCalls(address.calls),
    as: address.isList ? "list" : null,
  };
}

function readCalls(text = ""): CallsView {
  const words = readList(text);
  return {
    isTree: words.includes("tree"),
    isBottomUp: words.includes("bottom_up"),
    isByTrack: words.includes("by_track"),
  };
}

function writeCalls({ isTree, isBottomUp, isByTrack }: CallsView): string | null {
  return writeList([
    ...(isTree ? ["tree"] : []),
    ...(isBottomUp ? ["bottom_up"] : []),
    ...(isByTrack ? ["by_track"] : []),
  ]);
}

function readEvent(text: string): { host: string; part: Part; id: number } | null {
  const match = /^([ed])(\d{1,10})@(.+)$/s.exec(text);
  if (!match) return null;
  return { part: match[1] === "d" ? "derived" : "events", id: Number(match[2]), host: match[3] };
}

function readRange(view: View): (AddressSpan & { tracks: readonly string[] | null }) | null {
  const span = readSpan(view.range ?? "");
  if (span === null) return null;
  const tracks = readList(view.range_tracks);
  return { ...span, tracks: tracks.length > 0 ? tracks : null };
}

function readMarks(text = ""): readonly (AddressSpan & { label: string })[] {
  return text
    .split(",")
    .filter(Boolean)
    .flatMap((item) => {
      const index = item.indexOf("~");
      const span = readSpan(index < 0 ? item : item.slice(0, index));
      return span === null
        ? []
        : [{ ...span, label: index < 0 ? "" : readItem(item.slice(index + 1)) }];
    });
}

function readSpan(text: string): AddressSpan | null {
  const [first, last, ...more] = text.split("..");
  const [from, to] = [readMs(first), readMs(last ?? first)];
  return more.length === 0 && to >= from ? { from, to } : null;
}

function writeSpan({ from, to }: AddressSpan): string {
  return from === to ? writeMs(from) : `${writeMs(from)}..${writeMs(to)}`;
}

/** NaN if it is not a number. */
function readMs(text = ""): number {
  return /^-?\d{1,12}(\.\d{1,12})?$/.test(text) ? Math.round(Number(text) * PS_PER_MS) : Number.NaN;
}

/** Exact to the ps, without trailing zeros. */
function writeMs(ps: number): string {
  return (Math.round(ps) / PS_PER_MS).toFixed(9).replace(/\.?0+$/, "");
}

/** "a,b" with commas within names escaped. */
function readList(text = ""): readonly string[] {
  return text.split(",").filter(Boolean).map(readItem);
}

function writeList(items: readonly string[]): string | null {
  return items.map(escapeItem).join() || null;
}

function readItem(text: string): string {
  return text.replaceAll("%2C", ",").replaceAll("%25", "%");
}

function escapeItem(text: string): string {
  return text.replaceAll("%", "%25").replaceAll(",", "%2C");
}

function flag(isSet: boolean | undefined): string | null {
  return isSet ? "1" : null;
}

function oneOf<T extends string>(known: readonly T[], text: string | undefined): T {
  return known.find((name) => name === text) ?? known[0];
}

function unusual<T extends string>(known: readonly T[], value: T): string | null {
  return value === known[0] ? null : value;
}
