/** What of a scene lies at a place of the canvas. */
import type { PlacedLane } from "../model/lanes/lane_layout";
import type { Source } from "../model/sources";
import { NO_EVENT, type Scene } from "./scene";

interface DrawnEventHit {
  readonly source: Source;
  readonly row: number;
  readonly lane: number;
  readonly id: number;
  readonly type: number;
  readonly count: number;
  /** ps of the host. */
  readonly startPs: number;
  readonly endPs: number;
  /** Both may be too small by as much. */
  readonly roundingPs: number;
}

/** Tiles of finer levels have times as they are; of coarser ones, to a 16th of a bucket. */
const EXACT_TO = 4;

/** CSS pixels beside a narrow event that still mean it. */
const REACH = 3;

/** The event at (x, y) CSS pixels, else the nearest one close by in its row; null for none. */
export function hitAt(
  scene: Scene,
  lanes: readonly PlacedLane[],
  x: number,
  y: number,
  dpr: number,
): DrawnEventHit | null {
  const strip = stripAt(scene, y * dpr);
  if (strip < 0) return null;
  const at = x * dpr;
  let nearest = -1;
  let least = REACH * dpr;
  for (let rect = scene.stripFirst(strip); rect < scene.stripLast(strip); rect++) {
    if ((scene.flags[rect] & NO_EVENT) !== 0) continue;
    const left = scene.rects[rect * 4];
    const distance = Math.max(left - at, at - left - scene.rects[rect * 4 + 2], 0);
    // What is drawn later lies above.
    if (distance <= least) {
      least = distance;
      nearest = rect;
    }
  }
  return nearest < 0 ? null : hitOf(scene, lanes, strip, nearest);
}

function hitOf(
  scene: Scene,
  lanes: readonly PlacedLane[],
  strip: number,
  rect: number,
): DrawnEventHit | null {
  const at = scene.stripLane(strip);
  const lane = lanes[at]?.lane;
  if (lane?.kind !== "track") return null;
  const number = scene.blockOf[rect];
  const block = scene.blocks[number];
  const entry = scene.entryOf[rect];
  return {
    source: scene.sources[number],
    row: lane.item.track.row + scene.stripDepth(strip),
    lane: at,
    id: block.id[entry],
    type: block.type[entry],
    count: block.count[entry],
    startPs: block.start[entry],
    endPs: block.end[entry],
    roundingPs: roundingOf(block.level),
  };
}

/** By how much times of a tile may be too small. */
export function roundingOf(level: number): number {
  return level > EXACT_TO ? 2 ** (level - EXACT_TO) : 0;
}

/** The row of events at `y` device pixels, -1 for none. */
function stripAt(scene: Scene, y: number): number {
  for (let strip = 0; strip < scene.stripCount; strip++) {
    if (!scene.isEvenStrip(strip)) continue;
    const first = scene.stripFirst(strip) * 4;
    const top = scene.rects[first + 1];
    if (y >= top && y < top + scene.rects[first + 3]) return strip;
  }
  return -1;
}

/** Instants that rulers snap to, in ps of the common axis. */
export interface SnapInput {
  readonly scene: Scene;
  readonly dpr: number;
  /** From CSS pixels to ps of the common axis. */
  readonly toPs: (x: number) => number;
  readonly psPerPixel: number;
  /** Besides edges of events: those of selections, marks and ranges. */
  readonly others: readonly number[];
}

export interface Snap {
  readonly ps: number;
  readonly isSnapped: boolean;
  /** The event whose edge that is, where the picture has it rounded; null where it is exact. */
  readonly rounded: {
    readonly source: Source;
    readonly id: number;
    readonly isEnd: boolean;
  } | null;
}

/** CSS pixels. */
const SNAP = 8;

/**
 * The edge nearest to (x, y) within 8 pixels: of an event in the row under the pointer, else one of
 * the others; the instant of the pointer where there is none.
 */
export function snap(input: SnapInput, x: number, y: number): Snap {
  const { scene, dpr, toPs, psPerPixel, others } = input;
  const at = toPs(x);
  let best = at;
  let rounded: Snap["rounded"] = null;
  let least = SNAP * psPerPixel;
  const isNearer = (ps: number) => {
    const distance = Math.abs(ps - at);
    if (distance >= least) return false;
    least = distance;
    best = ps;
    rounded = null;
    return true;
  };
  for (const ps of others) isNearer(ps);
  const strip = stripAt(scene, y * dpr);
  if (strip >= 0) {
    for (let rect = scene.stripFirst(strip); rect < scene.stripLast(strip); rect++) {
      if ((scene.flags[rect] & NO_EVENT) !== 0) continue;
      const block = scene.blocks[scene.blockOf[rect]];
      const source = scene.sources[scene.blockOf[rect]];
      const entry = scene.entryOf[rect];
      const { offsetPs } = source.host;
      // Of a bucket, neither edge is known to be that of the event that it names.
      const isRounded = block.level > EXACT_TO && block.count[entry] === 1;
      for (const isEnd of [false, true]) {
        const edge = (isEnd ? block.end : block.start)[entry] + offsetPs;
        if (isNearer(edge) && isRounded) rounded = { source, id: block.id[entry], isEnd };
      }
    }
  }
  return { ps: best, isSnapped: best !== at, rounded };
}
