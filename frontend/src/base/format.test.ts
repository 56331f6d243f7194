import { expect, test } from "vitest";
import {
  columnScale,
  formatBytes,
  formatCount,
  formatPrefixed,
  formatRatio,
  formatTick,
  formatTime,
  sentence,
  significant,
} from "./format";
import { bytes, microseconds, ratio } from "./units";

test.each([
  [0.312, "312 ns"],
  [4.2094, "4.21 µs"],
  [38_000, "38.0 ms"],
  [1_200_000, "1.20 s"],
  [999.9, "1.00 ms"],
  [4_000_000_000, "4,000 s"],
  [0, "0 µs"],
  [Number.NaN, "–"],
])("%d µs reads %s", (value, text) => {
  expect(formatTime(microseconds(value))).toBe(text);
});

test("sizes, counts and shares", () => {
  expect(formatBytes(bytes(512))).toBe("512 B");
  expect(formatBytes(bytes(3.11 * 2 ** 30))).toBe("3.11 GiB");
  expect(formatBytes(bytes(2 ** 30))).toBe("1.00 GiB");
  expect(formatBytes(bytes(-(2 ** 20)))).toBe("-1.00 MiB");
  expect(formatBytes(bytes(1023 * 2 ** 20))).toBe("1,023 MiB");
  expect(formatCount(9_251_200)).toBe("9,251,200");
  expect(formatRatio(ratio(0.316))).toBe("31.6 %");
  expect(formatRatio(ratio(0.0001))).toBe("<0.1 %");
  expect(formatRatio(ratio(0))).toBe("0.0 %");
});

test("three significant digits, whole digits kept", () => {
  expect([0.020999, 9.999, 12.34, 3323.5, 1e-9].map(significant)).toEqual([
    "0.0210",
    "10.0",
    "12.3",
    "3,324",
    "<0.000001",
  ]);
});

test("a column has one unit, chosen from its largest value", () => {
  const scale = columnScale("time", 3_323_505);
  expect(scale.unit).toBe("ms");
  expect(scale.format(1150.025)).toBe("1.15");
  expect(columnScale("time", 0).unit).toBe("µs");
  expect(columnScale("bytes", 4096)).toMatchObject({ unit: "B" });
  expect(columnScale("ratio", 1).format(0.98118)).toBe("98.1");
});

test("a column of many small values has a smaller unit, and no more decimals than one reads", () => {
  const values = [77_778_000, 4440, 2.4, 2.3];
  const scale = columnScale("time", values[0], "", values);
  expect(scale.unit).toBe("ms");
  expect(values.map(scale.format)).toEqual(["77,778", "4.44", "0.0024", "0.0023"]);
  expect(scale.format(1e-6)).toBe("<0.0001");
  const few = [77_778_000, 9_620_000, 9_000_000, 8_000_000, 2];
  expect(columnScale("time", few[0], "", few).unit).toBe("s");
});

test("marks of an axis have the decimals that tell them apart", () => {
  const ms = columnScale("time", 30_000);
  expect([0, 500, 1000].map((value) => formatTick(value, ms, 500))).toEqual(["0.0", "0.5", "1.0"]);
  expect(formatTick(20_000, ms, 10_000)).toBe("20");
});

test.each([
  ["record again: it is empty", "Record again: it is empty."],
  ["Is it?", "Is it?"],
  ["Bytes were replaced (at byte 3)", "Bytes were replaced (at byte 3)."],
  ["tf.data was not used", "tf.data was not used."],
  ["", ""],
])("%j is the sentence %j", (text, written) => {
  expect(sentence(text)).toBe(written);
});

test.each([
  [85_941_288_960, "85.9 G"],
  [999.6, "1.00 k"],
  [12, "12.0 "],
  [0, "0 "],
  [Number.NaN, "–"],
])("%d with a decimal prefix is %j", (value, written) => {
  expect(formatPrefixed(value, "FLOP")).toBe(written === "–" ? written : `${written}FLOP`);
});
