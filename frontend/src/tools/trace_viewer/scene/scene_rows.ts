/**
 * Draws the rows of tracks as rectangles.
 *
 * The edges of an entry at least one pixel wide are on whole pixels. A thinner entry fills the
 * pixel in which it begins; the less of it the entry covers, the paler, so that a row in which
 * little happens looks pale, but not empty. Merged events have the color of the longest.
 *
 * Until tiles of the right level are loaded, finer tiles are drawn instead if all of them are
 * loaded, otherwise coarser ones, whose merged events are hatched if wide. Where nothing is
 * loaded, the row is tinted.
 */

import type { EventColors } from "../../../widgets/canvas/event_colors";
import type { Chunk } from "../data/tile_cache";
import { FARTHEST_STAND_IN } from "../data/tile_plan";
import type { TypeTable } from "../data/type_table";
import type { Source } from "../model/sources";
import type { Span } from "../model/types";
import { tileSpan } from "../protocol/tiles";
import { EDGE, HATCHED, NO_EVENT, type Scene } from "./scene";

export interface TileFinder {
  readonly hasOld: boolean;
  readonly find: (
    source: Source,
    level: number,
    tile: number,
    row: number,
    isOld?: boolean,
  ) => Chunk | undefined;
  readonly types: (source: Source) => TypeTable;
}

/** Settings shared by all rows of a picture. */
export interface RowFrame {
  readonly view: Span;
  readonly level: number;
  readonly tiles: TileFinder;
  readonly colors: EventColors;
  /** Device pixels per CSS pixel. */
  readonly dpr: number;
}

/** One row of one track. */
interface RowPlace {
  readonly source: Source;
  readonly row: number;
  /** Device pixels: [y, y + height). */
  readonly y: number;
  readonly height: number;
  readonly lane: number;
  readonly depth: number;
  /** Color of an entry by the global number of its type, or by its begin. */
  readonly colorOf: (type: number, startPs: number) => number;
  /** Global numbers of the types whose events are highlighted. */
  readonly same: readonly number[];
  /** Search hits in host time: begin and end, alternating; null without a search. */
  readonly matches: readonly Float64Array[] | null;
}

/** The most levels by which tiles drawn instead may be finer. */
const FINER = 3;
/** CSS pixels. */
const LABEL_FROM = 24;
const MARK_HEIGHT = 4;
const SAME_HEIGHT = 2;
const HATCH_FROM = 3;
/** Device pixels. */
const NARROW = 3;
/** Opacity of an entry that covers almost nothing of its pixel. */
const PALEST = 0.5;

export function drawRow(scene: Scene, frame: RowFrame, place: RowPlace): void {
  new RowDrawing(scene, frame, place).draw();
}

class RowDrawing {
  private readonly first: number;
  private readonly scale: number;
  /** Host time in ps at the left edge, and of the drawn range. */
  private readonly from: number;
  private readonly to: number;
  /** There is no level coarser than one tile for the whole part. */
  private readonly level: number;
  private lastId = -1;

  constructor(
    private readonly scene: Scene,
    private readonly frame: RowFrame,
    private readonly place: RowPlace,
  ) {
    const { view } = frame;
    const { offsetPs } = place.source.host;
    this.first = scene.count;
    this.level = Math.min(frame.level, place.source.index.maxLevel);
    this.scale = scene.width / (view.to - view.from);
    this.from = view.from - offsetPs;
    this.to = view.to - offsetPs;
  }

  draw(): void {
    const { scene, place } = this;
    const { index } = place.source;
    const size = tileSpan(this.level);
    const low = Math.max(this.from, index.beginPs);
    const high = Math.min(this.to, index.endPs);
    const lastTile = Math.floor((high - index.beginPs) / size);
    for (let tile = Math.floor((low - index.beginPs) / size); tile <= lastTile; tile++)
      this.drawTile(tile);
    const last = scene.count;
    scene.endStrip(this.first, place.lane, place.depth, true);
    this.findLabels(last);
    if (place.same.length > 0) this.markSame(last);
    if (place.matches) this.markHits(place.matches);
  }

  private drawTile(tile: number): void {
    const { level } = this;
    const { tiles } = this.frame;
    const low = this.place.source.index.beginPs + tile * tileSpan(level);
    const high = low + tileSpan(level);
    const exact = this.find(level, tile);
    if (exact) this.drawChunk(exact, low, Number.POSITIVE_INFINITY);
    else if (this.isFiner(level, tile, FINER)) this.drawFiner(level, tile, FINER);
    else if (!this.drawCoarser(tile, low, high, false)) {
      const old = tiles.hasOld ? this.find(level, tile, true) : undefined;
      if (old) this.drawChunk(old, low, high);
      else if (!tiles.hasOld || !this.drawCoarser(tile, low, high, true))
        this.drawUnknown(low, high);
    }
  }

  /** Whether the tile can be assembled from finer ones. */
  private isFiner(level: number, tile: number, depth: number): boolean {
    if (depth === 0 || level === 0) return false;
    for (const child of [tile * 2, tile * 2 + 1]) {
      if (!this.isInTrace(level - 1, child)) continue;
      if (!this.find(level - 1, child) && !this.isFiner(level - 1, child, depth - 1)) return false;
    }
    return true;
  }

  private drawFiner(level: number, tile: number, depth: number): void {
    for (const child of [tile * 2, tile * 2 + 1]) {
      if (!this.isInTrace(level - 1, child)) continue;
      const low = this.place.source.index.beginPs + child * tileSpan(level - 1);
      const chunk = this.find(level - 1, child);
      if (chunk) this.drawChunk(chunk, low, low + tileSpan(level - 1));
      else this.drawFiner(level - 1, child, depth - 1);
    }
  }

  private drawCoarser(tile: number, low: number, high: number, isOld: boolean): boolean {
    const { level } = this;
    for (let up = 1, above = tile; up <= FARTHEST_STAND_IN; up++) {
      above = Math.floor(above / 2);
      const chunk = this.find(level + up, above, isOld);
      if (!chunk) continue;
      this.drawChunk(chunk, low, high);
      return true;
    }
    return false;
  }

  /** The entries of the chunk in [low, high). */
  private drawChunk({ block, first, last }: Chunk, low: number, high: number): void {
    const { scene, place, scale, from } = this;
    const { start, end, type, count, id } = block;
    const to = Math.min(this.to, high);
    const begin = Math.max(from, low);
    const number = scene.blockNumber(block, place.source);
    const widest = scene.width + 2;
    const { fills } = this.frame.colors;
    const hatchFrom = HATCH_FROM * this.frame.dpr;
    let at = first;
    // The first entry that ends in the view.
    for (let above = last; at < above; ) {
      const middle = (at + above) >> 1;
      if (end[middle] < begin) at = middle + 1;
      else above = middle;
    }
    for (; at < last && start[at] < to; at++) {
      const isBefore = start[at] < low;
      if (isBefore && end[at] <= low) continue;
      let x = (Math.max(start[at], low) - from) * scale;
      let right = (Math.min(end[at], to) - from) * scale;
      // An event that continues in the next tile is one rectangle.
      if (isBefore && id[at] === this.lastId) {
        this.extend(Math.min(Math.round(right), widest));
        continue;
      }
      this.lastId = id[at];
      scene.entries++;
      scene.events += count[at];
      const color = fills[place.colorOf(type[at], start[at])];
      const width = right - x;
      if (width < 1) {
        const alpha = Math.round(255 * (PALEST + (1 - PALEST) * width));
        const pale = ((color & 0xffffff) | (alpha << 24)) >>> 0;
        scene.add(Math.floor(x), place.y, 1, place.height, pale, 0, number, at);
        continue;
      }
      let flags = isBefore ? 0 : EDGE;
      if (x < -1) {
        x = -1;
        flags = 0;
      }
      // Rounding to the nearest pixel would leave gaps between narrow adjacent events.
      x = width < NARROW ? Math.floor(x) : Math.round(x);
      right = Math.min(Math.round(right), widest);
      if (count[at] > 1 && width >= hatchFrom) flags |= HATCHED;
      scene.add(x, place.y, Math.max(right - x, 1), place.height, color, flags, number, at);
    }
  }

  private extend(right: number): void {
    const { scene } = this;
    const at = (scene.count - 1) * 4;
    if (scene.count === this.first) return;
    scene.rects[at + 2] = Math.max(right - scene.rects[at], scene.rects[at + 2]);
  }

  private drawUnknown(low: number, high: number): void {
    const { scene, place } = this;
    const { endPs } = place.source.index;
    // An event that continues from the previous tile is known all the same.
    const last = (scene.count - 1) * 4;
    const known = scene.count > this.first ? scene.rects[last] + scene.rects[last + 2] : 0;
    const x = Math.max(Math.round((low - this.from) * this.scale), known, 0);
    const right = Math.min(
      Math.round((Math.min(high, endPs) - this.from) * this.scale),
      scene.width,
    );
    const { unknown } = this.frame.colors;
    if (right <= x) return;
    scene.plain(x, place.y, right - x, place.height, unknown);
    this.lastId = -1;
  }

  private findLabels(last: number): void {
    const { scene, place, frame } = this;
    const least = LABEL_FROM * frame.dpr;
    if (place.height < 10 * frame.dpr) return;
    for (let rect = this.first; rect < last; rect++) {
      const x = scene.rects[rect * 4];
      const right = Math.min(x + scene.rects[rect * 4 + 2], scene.width);
      if (right - Math.max(x, 0) >= least && (scene.flags[rect] & (HATCHED | NO_EVENT)) === 0)
        scene.label(rect);
    }
  }

  private markSame(last: number): void {
    const { scene, place, frame } = this;
    const first = scene.count;
    const height = Math.min(Math.round(SAME_HEIGHT * frame.dpr), place.height);
    for (let rect = this.first; rect < last; rect++) {
      if ((scene.flags[rect] & NO_EVENT) !== 0) continue;
      const block = scene.blocks[scene.blockOf[rect]];
      if (!place.same.includes(block.type[scene.entryOf[rect]])) continue;
      const x = scene.rects[rect * 4];
      scene.plain(x, place.y, scene.rects[rect * 4 + 2], height, frame.colors.same);
    }
    scene.endStrip(first, place.lane, place.depth, false);
  }

  private markHits(marks: readonly Float64Array[]): void {
    const { scene, place, frame, scale, from } = this;
    const first = scene.count;
    const height = Math.min(Math.round(MARK_HEIGHT * frame.dpr), place.height);
    const least = Math.round(2 * frame.dpr);
    for (const spans of marks) {
      for (let at = 0; at < spans.length; at += 2) {
        if (spans[at + 1] < from || spans[at] > this.to) continue;
        const x = Math.max(Math.floor((spans[at] - from) * scale), -least);
        const right = Math.min(Math.round((spans[at + 1] - from) * scale), scene.width + 2);
        const width = Math.max(right - x, least);
        scene.plain(x, place.y + place.height - height, width, height, frame.colors.match);
      }
    }
    scene.endStrip(first, place.lane, place.depth, false);
  }

  private isInTrace(level: number, tile: number): boolean {
    const { beginPs, endPs } = this.place.source.index;
    return tile * tileSpan(level) <= endPs - beginPs;
  }

  private find(level: number, tile: number, isOld = false): Chunk | undefined {
    const { source, row } = this.place;
    return this.frame.tiles.find(source, level, tile, row, isOld);
  }
}
