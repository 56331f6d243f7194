/** The tracks of a range with nested calls, and the number of tracks that are left out. */
import { plural } from "../../../base/format";
import { type TrackSet, trackSets } from "../drawer/aggregates";
import type { TimeRange } from "../model/types";
import { indexOf, type Page } from "../page/page";

export interface CallTracks {
  readonly sets: readonly TrackSet[];
  readonly tracks: number;
  /** The number of tracks that repeat the work of others, such as derived ones. */
  readonly repeating: number;
  readonly asynchronous: number;
}

/** The tracks with nested calls in a box, or among all visible tracks if `keys` is null. */
export function callTracks(page: Page, keys: TimeRange["tracks"]): CallTracks {
  let asynchronous = 0;
  const sets = trackSets(page, keys).flatMap((set) => {
    const index = indexOf(set.host, set.part);
    if (set.part === "derived" || !index) return [];
    const tracks = set.tracks.filter((id) => index.tracks[id].kind !== "async");
    asynchronous += set.tracks.length - tracks.length;
    return tracks.length > 0 ? [{ ...set, tracks }] : [];
  });
  const tracks = sets.reduce((sum, set) => sum + set.tracks.length, 0);
  const repeating = countTracks(page, keys) - tracks - asynchronous;
  return { sets, tracks, repeating, asynchronous };
}

/** "12 tracks, 3 derived tracks and 1 asynchronous track excluded" */
export function describeTracks({ tracks, repeating, asynchronous }: CallTracks): string {
  const left = [
    ...(repeating > 0 ? [plural(repeating, "derived track")] : []),
    ...(asynchronous > 0 ? [plural(asynchronous, "asynchronous track")] : []),
  ];
  const excluded = left.length > 0 ? `, ${left.join(" and ")} excluded` : "";
  return `${plural(tracks, "track")}${excluded}`;
}

function countTracks({ model }: Page, keys: TimeRange["tracks"]): number {
  const { hidden } = model.arrangement.value;
  const wanted = keys && new Set(keys);
  const isChosen = (key: string) => (wanted ? wanted.has(key) : !hidden.has(key));
  let count = 0;
  for (const group of model.groups.value) {
    if (!wanted && hidden.has(group.key)) continue;
    for (const section of group.sections) {
      if (!wanted && hidden.has(section.key)) continue;
      for (const { key } of section.tracks) if (isChosen(key)) count++;
    }
  }
  return count;
}
