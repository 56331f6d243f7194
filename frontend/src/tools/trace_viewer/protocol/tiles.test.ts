import { expect, test } from "vitest";
import { PayloadError } from "../../../api/errors";
import { decodeTiles as decode, type TypeName } from "./tiles";
import { type DrawnEvent, encodeTiles, inOrder, mergeEvents } from "./tiles.test_helper";

let named: readonly TypeName[] = [];
const decodeTiles = (buffer: ArrayBuffer) =>
  decode(buffer, (types) => {
    named = types;
    return types.map(({ id }) => id);
  });

const event = (row: number, start: number, duration: number, type = 0): DrawnEvent => ({
  row,
  start,
  duration,
  type,
});

test("events come back with their times, types, counts and ids", () => {
  const events = inOrder([event(0, 100, 900, 7), event(0, 2000, 10, 8), event(1, 5, 5, 7)]);
  const block = decodeTiles(encodeTiles(events, { level: 0, from: 0, to: 8, rows: [0, 1, 5] }));
  expect(block).toMatchObject({ level: 0, chunkCount: 24 });
  expect([...block.start]).toEqual([100, 100, 2000, 5]);
  expect([...block.end]).toEqual([1000, 1000, 2010, 10]);
  expect([...block.type]).toEqual([7, 7, 8, 7]);
  expect([...block.id]).toEqual([0, 0, 1, 2]);
  expect(named).toEqual([
    { id: 7, name: "op 7", category: 1 },
    { id: 8, name: "op 8", category: 2 },
  ]);
  // The event of 900 ps begins in the first tile and reaches into the second.
  expect([...block.chunkFirst.subarray(0, 5)]).toEqual([0, 1, 2, 2, 3]);
});

test("what is too wide for 16 bits comes in full", () => {
  const far = 2 ** 40;
  const many = Array.from({ length: 70_000 }, (_, index) => event(1, index / 100_000, 0, 1));
  const events = inOrder([event(0, 3, far, 1), event(0, far + 9, 2 ** 35, 2), ...many]);
  const block = decodeTiles(encodeTiles(events, { level: 33, from: 0, to: 1, rows: [0, 1] }));
  expect(block.start[0]).toBe(3);
  // To a 16th of a bucket.
  expect(block.end[0]).toBe(3 + far);
  expect(block.start[1]).toBe(3 + far);
  expect(block.count[2]).toBe(70_000);
});

test("times are exact to a 16th of a bucket at every level", () => {
  const events = inOrder(
    Array.from({ length: 300 }, (_, index) =>
      event(index % 3, index * 977, (index % 7) * 131, index % 5),
    ),
  );
  for (const level of [0, 3, 6, 9]) {
    const merged = mergeEvents(events, level);
    const block = decodeTiles(encodeTiles(events, { level, from: 0, to: 700, rows: [0, 1, 2] }));
    const unit = 2 ** Math.max(level - 4, 0);
    const byStart = new Map(merged.map((entry) => [entry.id, entry]));
    let events_ = 0;
    for (let chunk = 0; chunk < block.chunkCount; chunk++) {
      for (let index = block.chunkFirst[chunk]; index < block.chunkFirst[chunk + 1]; index++) {
        const entry = byStart.get(block.id[index])!;
        expect(entry.start - block.start[index]).toBeLessThan(unit);
        expect(Math.abs(entry.start + entry.extent - block.end[index])).toBeLessThan(2 * unit);
        if (block.start[index] >= block.chunkTile[chunk] * 512 * 2 ** level)
          events_ += block.count[index];
      }
    }
    expect(events_).toBe(300);
  }
});

test.each([
  [(bytes: Uint8Array) => bytes.fill(0, 0, 1), /not tiles/],
  [(bytes: Uint8Array) => bytes.fill(255, 4, 8), /cut short/],
])("a damaged answer is refused", (damage, message) => {
  const buffer = encodeTiles([event(0, 0, 5)], { level: 0, from: 0, to: 1, rows: [0] });
  damage(new Uint8Array(buffer));
  expect(() => decodeTiles(buffer)).toThrow(PayloadError);
  expect(() => decodeTiles(buffer)).toThrow(message);
});

test("an answer that ends early is refused", () => {
  const buffer = encodeTiles([event(0, 0, 5)], { level: 0, from: 0, to: 1, rows: [0] });
  expect(() => decodeTiles(buffer.slice(0, -8))).toThrow(/cut short/);
  expect(() => decodeTiles(new ArrayBuffer(4))).toThrow(/not tiles/);
});
