import { expect, test } from "vitest";
import { shortName } from "./short_name";

test.each([
  ["MatMul", "MatMul"],
  ["void tensorflow::functor::Fill<int>(int)", "Fill<int>(int)"],
  ["a\u202egnp.exe\u0000", "a\ufffdgnp.exe\ufffd"],
])("%j is written %j", (name, short) => {
  expect(shortName(name)).toBe(short);
});
