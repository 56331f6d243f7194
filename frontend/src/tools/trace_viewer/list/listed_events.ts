/** The events of one track in the view, in time order; very short events are merged. */
import type { SectionGroup, TrackItem } from "../model/lanes/groups";
import type { TimelineModel } from "../model/model";
import { queryOf, sourceOf } from "../model/sources";
import type { HostTimeline, Span } from "../model/types";
import { tilesOf } from "../model/view/view_math";
import { decodeTiles, type TileBlock, type TypeName, tileSpan } from "../protocol/tiles";
import { roundingOf } from "../scene/hit_test";

export interface ListedEvent {
  readonly id: number;
  readonly row: number;
  readonly name: string;
  readonly category: number;
  /** ps of the host; for merged events, from the start of the first to the end of the last. */
  readonly startPs: number;
  readonly durationPs: number;
  /** The number of merged events; the name is that of the longest. */
  readonly count: number;
  /** Both times may be too small by this much; 0 if they are exact. */
  readonly roundingPs: number;
}

export interface ListedTrack {
  readonly key: string;
  readonly host: HostTimeline;
  readonly section: SectionGroup;
  readonly item: TrackItem;
}

/** Tiles across the view: events down to 1/4,096 of it are listed individually. */
const TILES = 8;
const MOST_LISTED = 50_000;

export async function listEvents(
  model: TimelineModel,
  { host, item }: ListedTrack,
  view: Span,
  signal: AbortSignal,
): Promise<readonly ListedEvent[]> {
  const source = sourceOf(host, item.part);
  if (!source) return [];
  const { index } = source;
  const span = { from: view.from - host.offsetPs, to: view.to - host.offsetPs };
  const level = listLevel(span, index.maxLevel);
  const { from, to } = tilesOf(span, level, index.beginPs, index.endPs);
  if (to <= from) return [];
  const { row, rows } = item.track;
  const all = Array.from({ length: rows }, (_, at) => row + at);
  const query = queryOf(source, level, from, to);
  const buffer = await model.api.tiles(query, all, model.filter.peek(), signal);
  const types: TypeName[] = [];
  const block = decodeTiles(buffer, (named) => {
    types.push(...named);
    return named.map((_, index) => index);
  });
  return eventsOf(block, types, span);
}

/** The coarsest level at which the view has at least that many tiles. */
function listLevel({ from, to }: Span, maxLevel: number): number {
  let level = 0;
  while (level < maxLevel && tileSpan(level) * TILES < to - from) level++;
  return level;
}

/** The entries of the tiles that are in the span, each event once. */
export function eventsOf(
  block: TileBlock,
  types: readonly TypeName[],
  { from, to }: Span,
): ListedEvent[] {
  const events: ListedEvent[] = [];
  const known = new Set<number>();
  for (let chunk = 0; chunk < block.chunkCount; chunk++) {
    for (let index = block.chunkFirst[chunk]; index < block.chunkFirst[chunk + 1]; index++) {
      const [start, end] = [block.start[index], block.end[index]];
      if (end < from || start > to || known.has(block.id[index])) continue;
      // An event is in every tile that it overlaps.
      known.add(block.id[index]);
      const type = types[block.type[index]];
      events.push({
        id: block.id[index],
        row: block.chunkRow[chunk],
        name: type?.name ?? "",
        category: type?.category ?? -1,
        startPs: start,
        durationPs: end - start,
        count: block.count[index],
        roundingPs: roundingOf(block.level),
      });
    }
  }
  events.sort((a, b) => a.startPs - b.startPs || a.row - b.row);
  return events.slice(0, MOST_LISTED);
}
