import { expect, test } from "vitest";
import { decodeTiles, type TileBlock } from "../protocol/tiles";
import { encodeTiles, inOrder } from "../protocol/tiles.test_helper";
import { TileCache } from "./tile_cache";

const events = inOrder(
  Array.from({ length: 64 }, (_, index) => ({
    row: index % 4,
    start: index * 100,
    duration: 90,
    type: 1,
  })),
);

function block(level: number, from: number, to: number, rows: readonly number[]): TileBlock {
  return decodeTiles(encodeTiles(events, { level, from, to, rows }), (types) =>
    types.map(({ id }) => id),
  );
}

test("chunks are found by level, tile and row", () => {
  const cache = new TileCache(1e6);
  cache.add("a", block(0, 2, 4, [1, 3]));
  const chunk = cache.find("a", 0, 2, 3)!;
  expect(chunk.block.start[chunk.first]).toBe(1100);
  expect(chunk.last - chunk.first).toBe(2);
  expect(cache.find("a", 0, 2, 2)).toBeUndefined();
  expect(cache.find("a", 1, 2, 3)).toBeUndefined();
  expect(cache.find("b", 0, 2, 3)).toBeUndefined();
  expect(cache.has("a", 0, 3, 1)).toBe(true);
});

test("an empty chunk is known to be empty", () => {
  const cache = new TileCache(1e6);
  cache.add("a", block(0, 900, 901, [1]));
  const chunk = cache.find("a", 0, 900, 1)!;
  expect(chunk.last).toBe(chunk.first);
});

test("the least recently drawn goes first, and never what is drawn now", () => {
  const blocks = [0, 1, 2].map((at) => block(0, at, at + 1, [0]));
  const cache = new TileCache(blocks[0].bytes * 2.5);
  cache.add("a", blocks[0]);
  cache.add("a", blocks[1]);
  cache.endFrame();
  cache.find("a", 0, 0, 0);
  cache.endFrame();
  cache.add("a", blocks[2]);
  expect([0, 1, 2].map((tile) => cache.has("a", 0, tile, 0))).toEqual([true, false, true]);
  expect(cache.bytes).toBe(blocks[0].bytes + blocks[2].bytes);
  // All in one frame: more than there is room for, but all of it is on the screen.
  cache.find("a", 0, 0, 0);
  cache.add("a", block(0, 1, 2, [0]));
  expect([0, 1, 2].map((tile) => cache.has("a", 0, tile, 0))).toEqual([true, true, true]);
  cache.endFrame();
  expect(cache.blocks).toBe(3);
  cache.endFrame();
  expect(cache.blocks).toBe(2);
});

test("a chunk that came twice outlives the first block", () => {
  const cache = new TileCache(1e6);
  cache.add("a", block(0, 0, 1, [0]));
  const later = block(0, 0, 1, [0, 1]);
  cache.add("a", later);
  cache.endFrame();
  const small = new TileCache(later.bytes);
  small.add("a", block(0, 0, 1, [0]));
  small.endFrame();
  small.add("a", later);
  expect(small.find("a", 0, 0, 0)?.block).toBe(later);
});

test("sources go as a whole", () => {
  const cache = new TileCache(1e6);
  cache.add("a", block(0, 0, 1, [0]));
  cache.add("b", block(0, 0, 1, [0]));
  cache.keep((source) => source === "b");
  expect([cache.knows("a"), cache.knows("b"), cache.blocks]).toEqual([false, true, 1]);
});
