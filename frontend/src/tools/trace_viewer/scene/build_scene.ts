/** Draws a view as rectangles in lanes. It has no side effects other than filling the scene. */

import type { EventColors, Pixel } from "../../../widgets/canvas/event_colors";
import { shareInView } from "../data/in_view";
import { windowsIn } from "../data/wants";
import type { PiecePart } from "../data/window_store";
import {
  depthsInView,
  type PlacedLane,
  ROW_HEIGHT,
  type TrackLane,
} from "../model/lanes/lane_layout";
import { isStrip, summarizedSections } from "../model/lanes/lane_sections";
import { type Source, sourceOf } from "../model/sources";
import type { ColorBy, CounterScale, Span } from "../model/types";
import type { CounterPoints } from "../protocol/payload";
import { NO_EVENT, type Scene } from "./scene";
import { drawRow, type RowFrame, type TileFinder } from "./scene_rows";
import { drawBusy, drawCounter, type SeriesPlace } from "./scene_series";
import { type ColorOf, colorByStep } from "./step_colors";

export type Parts<T> = (
  source: Source,
  level: number,
  windows: { readonly from: number; readonly to: number },
  id: number,
) => readonly PiecePart<T>[];

export interface SceneInput {
  readonly view: Span;
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly dpr: number;
  readonly level: number;
  readonly lanes: readonly PlacedLane[];
  readonly tiles: TileFinder;
  readonly counters: Parts<CounterPoints>;
  readonly counterScale: (source: Source, counter: number) => CounterScale;
  readonly busy: Parts<Float32Array>;
  /** null without a search. */
  readonly matches: Parts<Float64Array> | null;
  readonly colors: EventColors;
  readonly color: ColorBy;
  readonly selected: SelectedKind | null;
  /** Times that are marked by a vertical line. */
  readonly grid: readonly number[];
}

/** Events like the selected one: of the same name, on tracks of the same kind. */
export interface SelectedKind {
  readonly name: string;
  readonly trackKind: string;
  readonly sectionKind: string;
}

/** Gap below each row in pixels, if there is room. */
const ROW_GAP = 1;
const STRIP_INSET = 3;

export function buildScene(scene: Scene, input: SceneInput): void {
  const { width, height, dpr, colors } = input;
  scene.reset(Math.round(width * dpr), Math.round(height * dpr), colors.background);
  drawGround(scene, input);
  const frame: RowFrame = input;
  input.lanes.forEach((placed, index) => {
    const { lane } = placed;
    if (lane.kind === "track")
      drawTrack(scene, frame, input, placed as PlacedLane<TrackLane>, index);
    else if (lane.kind === "counter") drawCounterLane(scene, input, placed, index);
    else if (isStrip(lane)) drawBusyLane(scene, input, placed, index);
  });
}

/** Header bands, lines between lanes, and grid lines. */
function drawGround(scene: Scene, { lanes, dpr, colors, view, grid }: SceneInput): void {
  const line = Math.max(Math.round(dpr), 1);
  for (const placed of lanes) {
    const [top, bottom] = edges(placed, dpr);
    if (bottom <= top) continue;
    if (placed.lane.kind === "section" || placed.lane.kind === "host")
      scene.fill(0, top, scene.width, bottom - top, colors.header);
  }
  for (const ps of grid) {
    const x = Math.round(((ps - view.from) / (view.to - view.from)) * scene.width);
    if (x >= 0 && x < scene.width) scene.fill(x, 0, line, scene.height, colors.grid);
  }
  for (const placed of lanes) {
    const [top, bottom] = edges(placed, dpr);
    if (bottom - top > line)
      scene.fill(0, bottom - line, scene.width, line, separator(placed, colors));
  }
  const pinned = Math.round((lanes.at(-1)?.clip ?? 0) * dpr);
  if (pinned > 0) scene.fill(0, pinned - line, scene.width, line, colors.pinned);
}

function separator({ lane }: PlacedLane, colors: EventColors): Pixel {
  return lane.kind === "track" ? colors.grid : colors.separator;
}

function edges({ lane, y, clip }: PlacedLane, dpr: number): readonly [number, number] {
  return [
    Math.max(Math.round(y * dpr), Math.round(clip * dpr)),
    Math.round((y + lane.height) * dpr),
  ];
}

function drawTrack(
  scene: Scene,
  frame: RowFrame,
  input: SceneInput,
  placed: PlacedLane<TrackLane>,
  at: number,
): void {
  const { lane, y, clip } = placed;
  const { dpr, height } = input;
  const source = sourceOf(lane.host, lane.item.part);
  if (!source) return;
  const [first, last] = depthsInView(placed, height);
  const gap = lane.rowHeight >= ROW_HEIGHT / 2 ? ROW_GAP : 0;
  const colorOf = colorFunction(input, source, lane);
  const same = sameTypes(input, source, lane);
  const windows = windowsIn(input, source);
  for (let depth = first; depth < last; depth++) {
    const row = lane.item.track.row + depth;
    const rowY = y + gap + depth * lane.rowHeight;
    const top = Math.max(Math.round(rowY * dpr), Math.round(clip * dpr));
    const bottom = Math.round((rowY + lane.rowHeight - gap) * dpr);
    if (bottom <= top) continue;
    const pieces = input.matches?.(source, windows.level, windows, row) ?? [];
    drawRow(scene, frame, {
      source,
      row,
      y: top,
      height: bottom - top,
      lane: at,
      depth,
      colorOf,
      same,
      matches: pieces.length > 0 ? pieces.flatMap(({ data }) => (data ? [data] : [])) : null,
    });
  }
}

function drawCounterLane(scene: Scene, input: SceneInput, placed: PlacedLane, at: number): void {
  const { lane } = placed;
  if (lane.kind !== "counter") return;
  const source = sourceOf(lane.host, lane.item.part);
  if (!source) return;
  const { id } = lane.item.counter;
  const windows = windowsIn(input, source);
  const parts = input.counters(source, windows.level, windows, id);
  const scale = input.counterScale(source, id);
  drawCounter(
    scene,
    input.view,
    seriesPlace(input, placed, source, at),
    parts,
    scale,
    input.colors,
  );
}

function drawBusyLane(scene: Scene, input: SceneInput, placed: PlacedLane, at: number): void {
  const { lane } = placed;
  const sections = summarizedSections(lane);
  if (sections.length === 0) return;
  const { part } = sections[0];
  const source = sourceOf(lane.host, part);
  if (!source) return;
  const windows = windowsIn(input, source);
  const shares = sections.map(({ id }) => input.busy(source, windows.level, windows, id));
  scene.busyStrips++;
  drawBusy(scene, input.view, seriesPlace(input, placed, source, at), shares, input.colors.busy);
}

/**
 * By lane key: the busy share of a folded lane in the view, NaN if it was not recorded then, and
 * the top of a counter's scale. Values that are not known yet are left out.
 */
export function laneFigures(
  input: Pick<SceneInput, "view" | "level" | "lanes" | "busy" | "counterScale">,
): ReadonlyMap<string, number> {
  const figures = new Map<string, number>();
  for (const { lane } of input.lanes) {
    if (lane.kind === "counter") {
      const source = sourceOf(lane.host, lane.item.part);
      if (source) figures.set(lane.key, input.counterScale(source, lane.item.counter.id).most);
    } else if (isStrip(lane)) {
      const sections = summarizedSections(lane);
      const source = sections[0] ? sourceOf(lane.host, sections[0].part) : null;
      if (!source) continue;
      const windows = windowsIn(input, source);
      const parts = sections.map(({ id }) => input.busy(source, windows.level, windows, id));
      const share = shareInView(input.view, source, parts);
      if (share !== null) figures.set(lane.key, share);
    }
  }
  return figures;
}

/** The number of track and counter rows in the picture, and how many of them show something. */
export function countRows(
  scene: Scene,
  lanes: readonly PlacedLane[],
  height: number,
): { readonly rows: number; readonly filled: number } {
  let rows = 0;
  for (const placed of lanes) {
    const { lane } = placed;
    if (lane.kind === "counter") rows++;
    else if (lane.kind === "track") {
      const [first, last] = depthsInView(placed as PlacedLane<TrackLane>, height);
      rows += lane.isCollapsed ? 1 : last - first;
    }
  }
  const filled = new Set<string>();
  for (let strip = 0; strip < scene.stripCount; strip++) {
    const at = scene.stripLane(strip);
    const { lane } = lanes[at];
    const isEvent = (scene.flags[scene.stripFirst(strip)] & NO_EVENT) === 0;
    if (lane.kind === "counter" || (lane.kind === "track" && isEvent))
      filled.add(`${at} ${lane.isCollapsed ? 0 : scene.stripDepth(strip)}`);
  }
  return { rows, filled: filled.size };
}

function seriesPlace(
  { dpr }: SceneInput,
  { lane, y, clip }: PlacedLane,
  source: Source,
  at: number,
): SeriesPlace {
  const top = Math.round((y + STRIP_INSET) * dpr);
  const bottom = Math.round((y + lane.height - STRIP_INSET) * dpr);
  return { source, y: top, height: bottom - top, clip: Math.round(clip * dpr), lane: at };
}

/** The types with the selected event's name on tracks of its kind: launches are not kernels. */
function sameTypes({ tiles, selected }: SceneInput, source: Source, lane: TrackLane) {
  const isAlike =
    selected?.sectionKind === lane.section.kind && selected.trackKind === lane.item.track.kind;
  return isAlike ? tiles.types(source).numbersOf(selected.name) : [];
}

function colorFunction(input: SceneInput, source: Source, lane: TrackLane): ColorOf {
  if (input.color === "step") return colorByStep(input.tiles, input.level, lane);
  const colors = input.tiles.types(source).colorsBy(input.color);
  return (type) => colors[type];
}
