import { expect, test } from "vitest";
import { toCsv, toTsv } from "./csv";

test("cells are quoted where needed", () => {
  expect(
    toCsv([
      ["Name", "Time (µs)"],
      ['a"b,c', 1.5],
      [null, Number.NaN],
    ]),
  ).toBe('Name,Time (µs)\r\n"a""b,c",1.5\r\n,\r\n');
});

test("text that would run as a formula is defused, numbers stay", () => {
  expect(toCsv([["=1+1", "+x", "-x", "@x", -1, true]])).toBe("'=1+1,'+x,'-x,'@x,-1,yes\r\n");
  expect(toTsv([["=1", "a\tb", false]])).toBe("'=1\ta b\tno\n");
});
