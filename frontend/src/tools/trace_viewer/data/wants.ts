/** The data that a view needs: rows of events, counters, busy shares and search matches. */
import {
  depthsInView,
  type LaneList,
  lanesInView,
  type PlacedLane,
  type TrackLane,
} from "../model/lanes/lane_layout";
import { isStrip, stepTrack, summarizedSections } from "../model/lanes/lane_sections";
import { type Source, sourceOf } from "../model/sources";
import type { ColorBy, Span } from "../model/types";
import { tilesOf } from "../model/view/view_math";
import type { Want } from "./tile_plan";
import { windowsOf } from "./window_store";

export interface ViewInput {
  readonly view: Span;
  readonly level: number;
  readonly list: LaneList;
  readonly scrollTop: number;
  readonly height: number;
  readonly color: ColorBy;
  readonly lanes: readonly PlacedLane[];
  /** The row of the steps on the axis. */
  readonly stepRow: { readonly source: Source; readonly row: number } | null;
}

const NONE = () => [];

export function tileWants(input: ViewInput): Want[] {
  const rows = rowsOf(input.lanes, input.height);
  if (input.color === "step") addSteps(rows, input.lanes);
  if (input.stepRow) push(rows, input.stepRow.source, input.stepRow.row);
  const near = () => {
    const { list, scrollTop, height } = input;
    const half = height / 2;
    const top = Math.max(scrollTop - half, 0);
    return rowsOf(lanesInView(list, top, scrollTop - top + height + half), Number.MAX_SAFE_INTEGER);
  };
  return [...rows].map(([source, wanted]) => {
    const { index, host } = source;
    const level = Math.min(input.level, index.maxLevel);
    const span = { from: input.view.from - host.offsetPs, to: input.view.to - host.offsetPs };
    const tiles = tilesOf(span, level, index.beginPs, index.endPs);
    const nearRows = () => ascending(near().get(source) ?? []);
    return { source, level, ...tiles, rows: ascending(wanted), near: nearRows };
  });
}

/** Counters in view; for their scale, also their whole time at the coarsest level. */
export function counterWants(input: ViewInput): Want[] {
  const ids = new Map<Source, number[]>();
  for (const { lane } of input.lanes)
    if (lane.kind === "counter")
      push(ids, sourceOf(lane.host, lane.item.part), lane.item.counter.id);
  return [...ids].flatMap(([source, rows]) => [
    { source, level: source.index.maxLevel, from: 0, to: 1, rows: ascending(rows), near: NONE },
    { source, ...windowsIn(input, source), rows: ascending(rows), near: NONE },
  ]);
}

/** Sections summarized by collapsed headers in view. */
export function busyWants(input: ViewInput): Want[] {
  const ids = new Map<Source, number[]>();
  for (const { lane } of input.lanes) {
    if (!isStrip(lane)) continue;
    for (const { part, id } of summarizedSections(lane)) push(ids, sourceOf(lane.host, part), id);
  }
  return windowWants(ids, input);
}

export function matchWants(input: ViewInput): Want[] {
  return windowWants(rowsOf(input.lanes, input.height), input);
}

function windowWants(ids: ReadonlyMap<Source, readonly number[]>, input: ViewInput): Want[] {
  return [...ids].map(([source, rows]) => ({
    source,
    ...windowsIn(input, source),
    rows: ascending(rows),
    near: NONE,
  }));
}

function rowsOf(lanes: readonly PlacedLane[], height: number): Map<Source, number[]> {
  const rows = new Map<Source, number[]>();
  for (const placed of lanes) {
    const { lane } = placed;
    if (lane.kind !== "track") continue;
    const source = sourceOf(lane.host, lane.item.part);
    const [first, last] = depthsInView(placed as PlacedLane<TrackLane>, height);
    for (let depth = first; depth < last; depth++) push(rows, source, lane.item.track.row + depth);
  }
  return rows;
}

function addSteps(rows: Map<Source, number[]>, lanes: readonly PlacedLane[]): void {
  for (const { lane } of lanes) {
    if (lane.kind !== "track") continue;
    const steps = stepTrack(lane);
    if (steps) push(rows, sourceOf(lane.host, steps.part), steps.track.row);
  }
}

function push(map: Map<Source, number[]>, source: Source | null, id: number): void {
  if (!source) return;
  const known = map.get(source);
  if (known) known.push(id);
  else map.set(source, [id]);
}

/** Without duplicates. */
function ascending(ids: readonly number[]): number[] {
  const sorted = [...ids].sort((a, b) => a - b);
  return sorted.filter((id, index) => index === 0 || id !== sorted[index - 1]);
}

/** The windows of a source that are in view, and their level. */
export function windowsIn({ view, level }: Pick<ViewInput, "view" | "level">, source: Source) {
  const { beginPs, endPs, maxLevel } = source.index;
  const own = Math.min(level, maxLevel);
  const { offsetPs } = source.host;
  const span = { from: view.from - offsetPs, to: view.to - offsetPs };
  return { level: own, ...windowsOf(tilesOf(span, own, beginPs, endPs)) };
}
