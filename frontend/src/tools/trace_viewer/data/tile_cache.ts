/** A cache of loaded tiles by level, tile and row; the least recently drawn are evicted first. */
import type { TileBlock } from "../protocol/tiles";

/** Entries [first, last) of a block: one row in one tile. */
export interface Chunk {
  readonly block: TileBlock;
  readonly first: number;
  readonly last: number;
}

interface CachedBlock {
  readonly source: string;
  readonly block: TileBlock;
}

/** Levels are below 64, so that level and tile fit one exact number. */
const LEVELS = 64;

/** One cache for all sources; a source is a part of a host's timeline under a filter. */
export class TileCache {
  private readonly sources = new Map<string, Map<number, Map<number, Chunk>>>();
  /** The least recently used first. */
  private readonly held = new Map<TileBlock, CachedBlock>();
  private used = new Set<TileBlock>();
  private total = 0;

  constructor(private readonly maxBytes: number) {}

  get bytes(): number {
    return this.total;
  }

  get blocks(): number {
    return this.held.size;
  }

  add(source: string, block: TileBlock): void {
    let tiles = this.sources.get(source);
    if (!tiles) {
      tiles = new Map();
      this.sources.set(source, tiles);
    }
    for (let index = 0; index < block.chunkCount; index++) {
      const key = tileKey(block.level, block.chunkTile[index]);
      let rows = tiles.get(key);
      if (!rows) {
        rows = new Map();
        tiles.set(key, rows);
      }
      const [first, last] = [block.chunkFirst[index], block.chunkFirst[index + 1]];
      rows.set(block.chunkRow[index], { block, first, last });
    }
    this.held.set(block, { source, block });
    this.used.add(block);
    this.total += block.bytes;
    this.makeRoom();
  }

  /** The chunk; marks it as used. */
  find(source: string, level: number, tile: number, row: number): Chunk | undefined {
    const chunk = this.sources.get(source)?.get(tileKey(level, tile))?.get(row);
    if (chunk) this.used.add(chunk.block);
    return chunk;
  }

  has(source: string, level: number, tile: number, row: number): boolean {
    return this.sources.get(source)?.get(tileKey(level, tile))?.has(row) ?? false;
  }

  /** Whether anything of the source is cached. */
  knows(source: string): boolean {
    return (this.sources.get(source)?.size ?? 0) > 0;
  }

  /** Ends a frame: chunks used in it move to the end of the queue. */
  endFrame(): void {
    for (const block of this.used) {
      const held = this.held.get(block);
      if (!held) continue;
      this.held.delete(block);
      this.held.set(block, held);
    }
    this.makeRoom();
    this.used.clear();
  }

  /** Drops all sources for which `isKept` is false. */
  keep(isKept: (source: string) => boolean): void {
    for (const { source, block } of [...this.held.values()])
      if (!isKept(source)) this.drop(source, block);
  }

  private makeRoom(): void {
    for (const { source, block } of this.held.values()) {
      if (this.total <= this.maxBytes) return;
      if (!this.used.has(block)) this.drop(source, block);
    }
  }

  private drop(source: string, block: TileBlock): void {
    const tiles = this.sources.get(source);
    for (let index = 0; index < block.chunkCount; index++) {
      const key = tileKey(block.level, block.chunkTile[index]);
      const rows = tiles?.get(key);
      // A later block may have brought the same chunk.
      if (rows?.get(block.chunkRow[index])?.block === block) rows.delete(block.chunkRow[index]);
      if (rows?.size === 0) tiles?.delete(key);
    }
    if (tiles?.size === 0) this.sources.delete(source);
    this.held.delete(block);
    this.total -= block.bytes;
  }
}

function tileKey(level: number, tile: number): number {
  return tile * LEVELS + level;
}
