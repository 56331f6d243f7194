/** Colors events by the step in which they begin. */

import { type ColorIndex, GRAY, hueOfNumber } from "../../../widgets/canvas/event_colors";
import type { Chunk } from "../data/tile_cache";
import type { TrackLane } from "../model/lanes/lane_layout";
import { stepTrack } from "../model/lanes/lane_sections";
import { sourceOf } from "../model/sources";
import { tileSpan } from "../protocol/tiles";
import type { TileFinder } from "./scene_rows";

/** Color of an entry by the global number of its type and its begin. */
export type ColorOf = (type: number, startPs: number) => ColorIndex;

/** Adjacent steps get distant hues. Events in no step, or whose step is not known yet, are gray. */
export function colorByStep(tiles: TileFinder, viewLevel: number, lane: TrackLane): ColorOf {
  const steps = stepTrack(lane);
  const source = steps ? sourceOf(lane.host, steps.part) : null;
  if (!steps || !source) return () => GRAY;
  const { beginPs, maxLevel } = source.index;
  const level = Math.min(viewLevel, maxLevel);
  const size = tileSpan(level);
  // Both times are rounded down to 1/16 bucket, each from its own base.
  const rounding = level > 4 ? 2 ** (level - 4) : 0;
  let chunk: Chunk | undefined;
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  return (_, startPs) => {
    if (!(startPs >= low && startPs < high)) {
      const tile = Math.floor((startPs - beginPs) / size);
      low = beginPs + tile * size;
      high = low + size;
      chunk = tiles.find(source, level, tile, steps.track.row);
    }
    if (!chunk) return GRAY;
    const { start, end, id } = chunk.block;
    let at = chunk.first;
    for (let above = chunk.last; at < above; ) {
      const middle = (at + above) >> 1;
      if (start[middle] <= startPs + rounding) at = middle + 1;
      else above = middle;
    }
    at--;
    return at >= chunk.first && startPs < end[at] ? hueOfNumber(id[at]) : GRAY;
  };
}
