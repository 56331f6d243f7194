/** The picture as rectangles in strips, in flat arrays that are reused between frames. */
import type { Pixel } from "../../../widgets/canvas/event_colors";
import type { Source } from "../model/sources";
import type { TileBlock } from "../protocol/tiles";

/** An event begins here, so the first pixel column is darker. */
export const EDGE = 1;
/** Merged events, wider than a bucket should be since finer tiles are still loading. */
export const HATCHED = 2;
/** Not an event: an unknown area, a mark, or part of a chart. */
export const NO_EVENT = 4;

const ROOM = 4096;
const STRIP_ROOM = 256;
/** Numbers per strip: first and last rectangle, lane index, depth, 1 if all share y and height. */
const STRIP = 5;

export class Scene {
  /** Device pixels. */
  width = 0;
  height = 0;
  background: Pixel = 0;
  /** Number of rectangles; the first `fills` are drawn below all strips. */
  count = 0;
  fills = 0;
  /** x, y, width, height of each, in device pixels. */
  rects = new Int16Array(ROOM * 4);
  /** 0xAABBGGRR */
  colors = new Uint32Array(ROOM);
  flags = new Uint8Array(ROOM);
  /** The entry, and the index of its block in `blocks`. */
  blockOf = new Uint16Array(ROOM);
  entryOf = new Uint32Array(ROOM);
  stripCount = 0;
  /** In drawing order. */
  strips = new Int32Array(STRIP_ROOM * STRIP);
  /** Rectangles with room for text. */
  labelCount = 0;
  labels = new Uint32Array(ROOM);
  readonly blocks: TileBlock[] = [];
  readonly sources: Source[] = [];
  /** Number of entries drawn, and of the events in them. */
  entries = 0;
  events = 0;
  /** Folded lanes whose busy share is drawn. */
  busyStrips = 0;

  reset(width: number, height: number, background: Pixel): void {
    this.width = width;
    this.height = height;
    this.background = background;
    this.count = 0;
    this.fills = 0;
    this.stripCount = 0;
    this.labelCount = 0;
    this.blocks.length = 0;
    this.sources.length = 0;
    this.entries = 0;
    this.events = 0;
    this.busyStrips = 0;
  }

  /** Adds a rectangle below all strips. Must be called before the first strip. */
  fill(x: number, y: number, width: number, height: number, color: Pixel): void {
    if (width <= 0 || height <= 0) return;
    this.add(x, y, width, height, color, NO_EVENT, 0, 0);
    this.fills = this.count;
  }

  /** Adds a rectangle that is not an event. */
  plain(x: number, y: number, width: number, height: number, color: Pixel): void {
    this.add(x, y, width, height, color, NO_EVENT, 0, 0);
  }

  add(
    x: number,
    y: number,
    width: number,
    height: number,
    color: Pixel,
    flags: number,
    block: number,
    entry: number,
  ): void {
    const at = this.count++;
    if (at >= this.colors.length) this.grow();
    const { rects } = this;
    rects[at * 4] = x;
    rects[at * 4 + 1] = y;
    rects[at * 4 + 2] = width;
    rects[at * 4 + 3] = height;
    this.colors[at] = color;
    this.flags[at] = flags;
    this.blockOf[at] = block;
    this.entryOf[at] = entry;
  }

  /** Makes a strip of all rectangles since `first`. `isEven`: they share y and height. */
  endStrip(first: number, lane: number, depth: number, isEven: boolean): void {
    if (this.count === first) return;
    if ((this.stripCount + 1) * STRIP > this.strips.length) this.strips = doubled(this.strips);
    this.strips.set([first, this.count, lane, depth, isEven ? 1 : 0], this.stripCount * STRIP);
    this.stripCount++;
  }

  label(rect: number): void {
    if (this.labelCount >= this.labels.length) this.labels = doubled(this.labels);
    this.labels[this.labelCount++] = rect;
  }

  blockNumber(block: TileBlock, source: Source): number {
    const last = this.blocks.length - 1;
    if (this.blocks[last] === block) return last;
    const index = this.blocks.indexOf(block);
    if (index >= 0) return index;
    this.blocks.push(block);
    this.sources.push(source);
    return last + 1;
  }

  stripFirst(strip: number): number {
    return this.strips[strip * STRIP];
  }

  stripLast(strip: number): number {
    return this.strips[strip * STRIP + 1];
  }

  stripLane(strip: number): number {
    return this.strips[strip * STRIP + 2];
  }

  stripDepth(strip: number): number {
    return this.strips[strip * STRIP + 3];
  }

  isEvenStrip(strip: number): boolean {
    return this.strips[strip * STRIP + 4] === 1;
  }

  private grow(): void {
    this.rects = doubled(this.rects);
    this.colors = doubled(this.colors);
    this.flags = doubled(this.flags);
    this.blockOf = doubled(this.blockOf);
    this.entryOf = doubled(this.entryOf);
  }
}

type SceneColumn =
  | Int16Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>;

function doubled<C extends SceneColumn>(values: C): C {
  const larger = new (values.constructor as new (length: number) => C)(values.length * 2);
  larger.set(values);
  return larger;
}
