import { expect, test } from "vitest";
import { sparkPath } from "./sparkline";

test("from the first to the last value, zero at the bottom", () => {
  expect(sparkPath(Float64Array.of(0, 2))).toBe("M0.0 23.0L120.0 1.0");
});

test("what was not measured is left out", () => {
  expect(sparkPath(Float64Array.of(1, Number.NaN, 1))).toBe("M0.0 1.0L120.0 1.0");
});

test("one value is not a line", () => {
  expect(sparkPath(Float64Array.of(3))).toBe("");
  expect(sparkPath(Float64Array.of(0, 0))).toBe("");
});

test("thousands of values keep their peak", () => {
  const values = new Float64Array(5000).fill(1);
  values[3210] = 10;
  const path = sparkPath(values);
  expect(path.match(/[ML]/g)).toHaveLength(120);
  expect(path).toContain(" 1.0L");
});
