import { expect, test } from "vitest";
import type { TileBlock } from "../protocol/tiles";
import { eventsOf } from "./listed_events";

test("events that reach into several tiles are listed once, in order of time", () => {
  const block = {
    chunkCount: 2,
    chunkRow: Uint32Array.of(4, 5),
    chunkFirst: Uint32Array.of(0, 2, 4),
    id: Uint32Array.of(7, 8, 8, 9),
    start: Float64Array.of(0, 30, 30, 10),
    end: Float64Array.of(5, 60, 60, 20),
    type: Uint32Array.of(0, 1, 1, 0),
    count: Uint32Array.of(1, 1, 1, 3),
  } as unknown as TileBlock;
  const types = [
    { id: 1, name: "a", category: 0 },
    { id: 2, name: "b", category: 1 },
  ];
  const listed = eventsOf(block, types, { from: 8, to: 100 });
  expect(listed.map(({ id, row, name, count }) => [id, row, name, count])).toEqual([
    [9, 5, "a", 3],
    [8, 4, "b", 1],
  ]);
});
