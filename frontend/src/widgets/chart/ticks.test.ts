import { expect, test } from "vitest";
import { marksOf } from "./ticks";

test("marks are round in the written unit", () => {
  const { values, increment } = marksOf(0, 8e9, 1e-9, 4);
  expect(increment).toBeCloseTo(2e9, 3);
  expect(values.map(Math.round)).toEqual([0, 2e9, 4e9, 6e9, 8e9]);
  expect(marksOf(1.5, 7.9, 1, 4).values).toEqual([2, 4, 6]);
  expect(marksOf(3, 3, 1, 4).values).toEqual([]);
});
