/** Tiles of drawn events, as a scene finds them, for tests. */

import { makeColors } from "../../../widgets/canvas/event_colors";
import { TileCache } from "../data/tile_cache";
import { TypeTable } from "../data/type_table";
import { groupHosts } from "../model/lanes/groups";
import { lanesInView, layOutLanes } from "../model/lanes/lane_layout";
import { placeHosts } from "../model/place_hosts";
import { type Source, sourceOf } from "../model/sources";
import { NO_ARRANGEMENT, type Span } from "../model/types";
import { parseTimeline } from "../protocol/payload";
import { sampleTimelineJson } from "../protocol/sample.test_helper";
import { decodeTiles } from "../protocol/tiles";
import { type DrawnEvent, encodeTiles, inOrder } from "../protocol/tiles.test_helper";
import { buildScene, type SceneInput } from "./build_scene";
import { Scene } from "./scene";

export interface SceneStage {
  readonly events: readonly DrawnEvent[];
  readonly source: Source;
  readonly types: TypeTable;
  readonly input: SceneInput;
  /** Brings tiles of a level: all, or [from, to). */
  readonly load: (level: number, from?: number, to?: number) => void;
  readonly scene: (patch?: Partial<SceneInput>) => Scene;
}

const COLORS: Readonly<Record<string, string>> = {
  "--background": "#ffffff",
  "--text": "#000000",
  "--hover": "#eeeeee",
  "--danger": "#ff0000",
  "--panel": "#f0f0f0",
};

/** One track whose rows hold `drawn`, from 0 to `endPs`. */
export function stage(drawn: readonly DrawnEvent[], endPs: number, width = 400): SceneStage {
  const events = inOrder(drawn);
  const rows = Math.max(...events.map(({ row }) => row), 0) + 1;
  const maxLevel = Math.max(Math.ceil(Math.log2((endPs + 1) / 512)), 0);
  const [section] = sampleTimelineJson().sections as object[];
  const index = parseTimeline(
    sampleTimelineJson({
      end_ps: endPs,
      max_level: maxLevel,
      sections: [section],
      tracks: [{ id: 0, section: 0, name: "track", kind: "stream", row: 0, rows }],
    }),
  );
  const hosts = placeHosts([{ events: index, derived: null }]);
  const source = sourceOf(hosts[0], "events")!;
  const cache = new TileCache(1e9);
  const types = new TypeTable(index.categories);
  const height = 24 + rows * 18 + 4;
  const input: SceneInput = {
    view: { from: 0, to: endPs },
    width,
    height,
    dpr: 1,
    level: 0,
    lanes: lanesInView(layOutLanes(groupHosts(hosts), NO_ARRANGEMENT), 0, height),
    tiles: {
      hasOld: false,
      find: (of, level, tile, row) => cache.find(of.key, level, tile, row),
      types: () => types,
    },
    counters: () => [],
    counterScale: () => ({ least: 0, most: 1 }),
    busy: () => [],
    matches: null,
    colors: makeColors((property) => COLORS[property] ?? "#808080"),
    color: "name",
    selected: null,
    grid: [],
  };
  return {
    events,
    source,
    types,
    input,
    load: (level, from = 0, to = Math.floor(endPs / (512 * 2 ** level)) + 1) => {
      const all = Array.from({ length: rows }, (_, row) => row);
      const tiles = encodeTiles(events, { level, from, to, rows: all });
      cache.add(source.key, decodeTiles(tiles, types.intern));
    },
    scene: (patch = {}) => {
      const scene = new Scene();
      buildScene(scene, { ...input, ...patch });
      return scene;
    },
  };
}

export interface DrawnRect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly flags: number;
  /** 0–255 */
  readonly alpha: number;
  readonly id: number;
  readonly count: number;
}

/** The rectangles of a scene that are events. */
export function eventRects(scene: Scene): DrawnRect[] {
  const rects: DrawnRect[] = [];
  for (let index = scene.fills; index < scene.count; index++) {
    if ((scene.flags[index] & 4) !== 0) continue;
    const block = scene.blocks[scene.blockOf[index]];
    const [x, y, width, height] = scene.rects.subarray(index * 4, index * 4 + 4);
    rects.push({
      x,
      y,
      width,
      height,
      flags: scene.flags[index],
      alpha: scene.colors[index] >>> 24,
      id: block.id[scene.entryOf[index]],
      count: block.count[scene.entryOf[index]],
    });
  }
  return rects;
}

/** Rows of events that do not overlap, by a fixed sequence of numbers. */
export function randomEvents(count: number, rows: number, seed = 1): DrawnEvent[] {
  let state = seed;
  const next = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
  const ends = new Array<number>(rows).fill(0);
  return Array.from({ length: count }, () => {
    const row = next(rows);
    const start = ends[row] + next(4) * next(60);
    const duration = next(9) === 0 ? next(4000) : next(40);
    ends[row] = start + duration;
    return { row, start, duration, type: next(20) };
  });
}

export function spanOf(events: readonly DrawnEvent[]): Span {
  return { from: 0, to: Math.max(...events.map(({ start, duration }) => start + duration)) };
}
