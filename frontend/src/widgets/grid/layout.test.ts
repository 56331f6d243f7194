import { expect, test } from "vitest";
import { layItems, offsetOf, positionAt } from "./layout";

test("members follow the group that is open", () => {
  const members = (group: number) => (group === 1 ? Uint32Array.of(4, 7) : null);
  expect([...layItems(Uint32Array.of(2, 1, 0), new Set([1]), members)]).toEqual([2, 1, -5, -8, 0]);
  expect([...layItems(Uint32Array.of(2, 0), new Set([1]), members)]).toEqual([2, 0]);
});

test("offsets and positions invert each other, across open details", () => {
  const layout = { rowHeight: 10, detailHeight: 50, length: 100_000, open: [2, 5] };
  expect(offsetOf(layout, 3)).toBe(80);
  expect(offsetOf(layout, 100_000)).toBe(1_000_100);
  expect([0, 9, 10, 25, 79, 80, 999_999_999].map((offset) => positionAt(layout, offset))).toEqual([
    0, 0, 1, 2, 2, 3, 99_999,
  ]);
});
