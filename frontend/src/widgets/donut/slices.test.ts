import { expect, test } from "vitest";
import { encodeTexts } from "../../api/data_table";
import { ringPaths } from "./ring";
import { findSlices } from "./slices";

test("the largest names are slices, the others are one, and together they are the whole", () => {
  const names = encodeTexts("n", "n", ["a", "b", "c", "d", "a", null]);
  const values = Float64Array.of(4, 1, 2, 3, 6, 100);
  const slices = findSlices(names, values, undefined, 2);
  expect(slices.map(({ name, value, names: count }) => [name, value, count])).toEqual([
    ["a", 10, 1],
    ["d", 3, 1],
    ["", 3, 2],
  ]);
  expect(slices.reduce((sum, slice) => sum + slice.share, 0)).toBeCloseTo(1);
  expect([0, 1, 2, 3, 4].filter(slices[2].has)).toEqual([1, 2]);
});

test("one name alone is not called others", () => {
  const names = encodeTexts("n", "n", ["a", "b", "c"]);
  expect(
    findSlices(names, Float64Array.of(3, 2, 1), undefined, 2).map((slice) => slice.name),
  ).toEqual(["a", "b", "c"]);
});

test("rows outside are not counted, nor is what was not measured", () => {
  const names = encodeTexts("n", "n", ["a", "b"]);
  expect(findSlices(names, Float64Array.of(Number.NaN, 2), (row) => row === 0)).toEqual([]);
});

test("a whole ring is two circles", () => {
  expect(ringPaths([1], 60, 40)[0].match(/Z/g)).toHaveLength(2);
  expect(ringPaths([0.5, 0.5], 60, 40)).toHaveLength(2);
});
