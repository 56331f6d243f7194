import { expect, test } from "vitest";
import { squarify } from "./squarify";

const area = ({ width, height }: { width: number; height: number }) => width * height;

test("tiles fill the room in proportion", () => {
  const sizes = [6, 6, 4, 3, 2, 2, 1];
  const tiles = squarify(sizes, 600, 400);
  expect(tiles).toHaveLength(7);
  tiles.forEach((tile, index) => {
    expect(area(tile)).toBeCloseTo((sizes[index] / 24) * 240_000, 3);
  });
});

test("the example of the paper: the first column has two squares below each other", () => {
  const [first, second, third] = squarify([6, 6, 4, 3, 2, 2, 1], 6, 4);
  expect(first).toEqual({ left: 0, top: 0, width: 3, height: 2 });
  expect(second).toEqual({ left: 0, top: 2, width: 3, height: 2 });
  expect(third.left).toBeCloseTo(3);
  expect(third.height).toBeCloseTo(7 / 3);
});

test("tiles do not overlap, whatever their sizes", () => {
  const sizes = Array.from({ length: 60 }, (_, index) => 1000 / (index * index + 1));
  const tiles = squarify(sizes, 500, 300);
  for (const [at, a] of tiles.entries()) {
    expect(a.left).toBeGreaterThanOrEqual(-1e-6);
    expect(a.left + a.width).toBeLessThanOrEqual(500 + 1e-6);
    expect(a.top + a.height).toBeLessThanOrEqual(300 + 1e-6);
    for (const b of tiles.slice(at + 1)) {
      const wide = Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left);
      const high = Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top);
      expect(wide > 1e-6 && high > 1e-6).toBe(false);
    }
  }
});

test("nothing has no tiles", () => {
  expect(squarify([], 10, 10)).toEqual([]);
  expect(squarify([1], 0, 10)).toEqual([]);
});
