import { expect, test } from "vitest";
import { foldRows, meanOf } from "./busy_rows";

test("many rows become few by their mean", () => {
  const row = (name: string, share: number) => ({
    name,
    shares: Float32Array.of(share, 0),
    from: 0,
    to: 1,
  });
  const rows = [row("a", 1), row("b", 0.5), row("c", 0)];
  expect(foldRows(rows, 3)).toBe(rows);
  expect(foldRows(rows, 2).map(({ name, shares }) => [name, ...shares])).toEqual([
    ["a to b", 0.75, 0],
    ["c", 0, 0],
  ]);
  expect(meanOf([])).toEqual(new Float32Array(0));
});
