import { expect, test } from "vitest";
import { formatInstant, formatPs, parseTime } from "./time";

test.each([
  [0, "0 µs"],
  [120, "120 ps"],
  [312_000, "312 ns"],
  [4_210_000, "4.21 µs"],
  [Number.NaN, "–"],
])("%d ps lasts %s", (ps, text) => {
  expect(formatPs(ps)).toBe(text);
});

test.each([
  [0, "0 ps"],
  [1_919_033_505_000, "1.919\u202f033\u202f505 s"],
  [40_000_012_000, "40.000\u202f012 ms"],
  [2_000_000_000, "2 ms"],
  [-1_500_000, "-1.500 µs"],
  [12_345, "12.345 ns"],
  [Number.NaN, "–"],
])("%d ps is the instant %s", (ps, text) => {
  expect(formatInstant(ps)).toBe(text);
});

test.each([
  [65_963_119_037_000, 8_388_608, "65.963\u202f12 s"],
  [65_960_000_000_000, 8_388_608, "65.960 s"],
  [1_500_000, 500_000, "2 µs"],
  [40_000_012_000, 1, "40.000\u202f012 ms"],
])("%d ps, rounded to %d, is the instant %s", (ps, rounding, text) => {
  expect(formatInstant(ps, rounding)).toBe(text);
});

test.each([
  ["", 0],
  ["5 µs", 5e6],
  ["5us", 5e6],
  ["20", 2e7],
  ["1,5 ms", 1.5e9],
  ["x", Number.NaN],
  ["-1 s", Number.NaN],
])("%j is %d ps", (text, ps) => {
  expect(parseTime(text)).toBe(ps);
});
