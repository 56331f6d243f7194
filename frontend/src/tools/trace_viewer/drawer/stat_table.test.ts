import { expect, test } from "vitest";
import { statText } from "./stat_table";

const stat = (value: string | number | boolean | null, unit = "", text = "") => ({
  key: "k",
  label: "k",
  value,
  unit,
  text,
});

test.each([
  [stat(4096, "bytes"), "4.00 KiB"],
  [stat(1500, "ns"), "1.50 µs"],
  [stat(1234567, "flops"), "1.23 MFLOP"],
  [stat(0.251, "ratio"), "25.1 %"],
  [stat(1, "bool"), "yes"],
  [stat(1234567, "id"), "1234567"],
  [stat(255, "address"), "0xff"],
  [stat("9007199254740993", "id"), "9007199254740993"],
  [stat(0.1234567), "0.123"],
  [stat(null, "", "nan"), "nan"],
  [stat(null), "–"],
])("%j reads %s", (value, text) => {
  expect(statText(value)).toBe(text);
});
