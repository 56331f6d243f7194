/** The steps of one track from which the axis counts, as far as tiles are loaded. */
import type { HostGroup, TrackItem } from "../model/lanes/groups";
import type { TimelineModel } from "../model/model";
import { selectedTrack } from "../model/selected_track";
import { type Source, sourceOf } from "../model/sources";
import type { Span } from "../model/types";
import { tilesOf } from "../model/view/view_math";
import { tileSpan } from "../protocol/tiles";
import type { TileFinder } from "./scene_rows";

/** A track of steps; its events are in one row. */
export interface StepRow {
  readonly source: Source;
  readonly row: number;
}

/** Times on the common axis. */
export interface StepInView extends Span {
  readonly name: string;
}

/** With more steps, each is too short in the picture to label times within it. */
const MOST = 100;

/** The steps of the selected event's section, or else of the first section with any in the view. */
export function axisStepRow(model: TimelineModel): StepRow | null {
  const selected = selectedTrack(model);
  const idle = model.idle.value;
  const isSteps = ({ key, track }: TrackItem) => track.kind === "steps" && !idle.has(key);
  const groups = model.groups.value;
  const own = groups
    .filter(({ host }) => host === selected?.source.host)
    .flatMap(({ sections }) => sections.filter(({ name }) => name === selected?.section.name));
  const all = groups.flatMap(({ sections }) => sections);
  for (const { tracks } of [...own, ...all]) {
    const item = tracks.find(isSteps);
    const group = item && groups.find((candidate) => isOf(candidate, item));
    const source = group ? sourceOf(group.host, item.part) : null;
    if (item && source) return { source, row: item.track.row };
  }
  return null;
}

function isOf({ sections }: HostGroup, item: TrackItem): boolean {
  return sections.some(({ tracks }) => tracks.includes(item));
}

/** In time order; empty if there are too many or they are not loaded yet. */
export function stepsInView(
  tiles: TileFinder,
  { source, row }: StepRow,
  view: Span,
  viewLevel: number,
): readonly StepInView[] {
  const { index, host } = source;
  const level = Math.min(viewLevel, index.maxLevel);
  const span = { from: view.from - host.offsetPs, to: view.to - host.offsetPs };
  const types = tiles.types(source);
  const steps = new Map<number, StepInView>();
  const { from, to } = tilesOf(span, level, index.beginPs, index.endPs);
  for (let tile = from; tile < to; tile++) {
    const chunk = tiles.find(source, level, tile, row);
    if (!chunk) continue;
    const { start, end, type, count, id } = chunk.block;
    const tileEnd = index.beginPs + (tile + 1) * tileSpan(level);
    for (let at = chunk.first; at < chunk.last && start[at] < tileEnd; at++) {
      if (end[at] <= span.from || start[at] >= span.to || steps.has(id[at])) continue;
      if (count[at] > 1 || steps.size >= MOST) return [];
      steps.set(id[at], {
        from: start[at] + host.offsetPs,
        to: end[at] + host.offsetPs,
        name: types.shortName(type[at]),
      });
    }
  }
  return [...steps.values()];
}
