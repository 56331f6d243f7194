/** Loads the call tree of a range, over any number of hosts. */
import type { HostTimeline, Span } from "../model/types";
import { type Page, partOf } from "../page/page";
import type { CallTracks } from "./call_tracks";
import { type CallColumns, type CallOrder, type CallTree, makeCallTree } from "./call_tree";
import { type CallsAnswer, fetchCalls } from "./calls_api";
import { mergeTrees } from "./merge_trees";

/** null if no track has nested calls. */
export async function loadCalls(
  page: Page,
  span: Span,
  { sets }: CallTracks,
  order: CallOrder,
  isByTrack: boolean,
  signal: AbortSignal,
): Promise<CallTree | null> {
  if (sets.length === 0) return null;
  const hosts = page.model.hosts.peek();
  const answers = await Promise.all(
    sets.map(async ({ host, part, tracks }) => {
      const within = { fromPs: span.from - host.offsetPs, toPs: span.to - host.offsetPs };
      const of = partOf(page.run, host, part)!;
      const answer = await fetchCalls(of, within, tracks, order, isByTrack, signal);
      return { ...answer, columns: ofHost(answer, host, hosts.length > 1) };
    }),
  );
  const overlapPs = answers.reduce((sum, answer) => sum + answer.overlapPs, 0);
  return makeCallTree(mergeTrees(answers.map(({ columns }) => columns)), order, overlapPs);
}

/** Adds the section to tracks with equal names, and the host if there are several. */
function ofHost({ columns, tracks }: CallsAnswer, host: HostTimeline, isOneOfMany: boolean) {
  const repeated = repeatedTracks(columns);
  const counts = new Map<string, number>();
  const names = columns.names.map((name, row) => {
    if (tracks[row] < 0) return name;
    const places = [repeated.has(name.text) ? sectionOf(host, tracks[row]) : ""];
    if (isOneOfMany) places.push(host.host);
    const text = [name.text || "(no name)", ...places].filter(Boolean).join(" · ");
    const count = (counts.get(text) ?? 0) + 1;
    counts.set(text, count);
    return { ...name, text: count > 1 ? `${text} (${count})` : text };
  });
  return { ...columns, names, host: new Int32Array(columns.parent.length).fill(host.at) };
}

function repeatedTracks({ names }: CallColumns): ReadonlySet<string> {
  const texts = names.filter((name) => name.isTrack).map((name) => name.text);
  return new Set(
    texts.toSorted().filter((text, index, all) => index > 0 && all[index - 1] === text),
  );
}

function sectionOf({ events }: HostTimeline, track: number): string {
  return events.sections[events.tracks[track]?.section ?? -1]?.label ?? "";
}
