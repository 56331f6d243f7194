import { expect, test } from "vitest";
import { parseFilter } from "./filter";
import { sampleColumns } from "./sample.test_helper";

const [NAME, TIME, SHARE, USED, COUNT] = sampleColumns(
  {
    name: ["MatMul", "_Z4gemmIfEvv", "a.b", null],
    time: [2_000_000, 5_000_000, 40_000_000, null],
    share: [0.1, 0.25, 0.0004, 1],
    used: [true, false, null, true],
    count: [1, 1500, 20, null],
  },
  {
    name: { isName: true },
    time: { quantity: "time" },
    share: { quantity: "ratio" },
    count: { quantity: "count" },
  },
);

function rows(text: string, column = NAME): number[] | string | null {
  const filter = parseFilter(text, column);
  if (filter === null) return null;
  return filter.test ? [0, 1, 2, 3].filter(filter.test) : filter.error;
}

test("text is looked for in any case, in the raw and in the readable name", () => {
  expect(rows("matmul")).toEqual([0]);
  expect(rows("_Z4")).toEqual([1]);
  expect(rows("gemm<float>")).toEqual([1]);
  expect(rows("a.b")).toEqual([2]);
  expect(rows("=MatMul")).toEqual([0]);
  expect(rows("=matmul")).toEqual([]);
  expect(rows("  ")).toBeNull();
});

test("patterns run between slashes, and a wrong one says what is wrong", () => {
  expect(rows("/^m.*l$/")).toEqual([0]);
  expect(rows("/a.b/")).toEqual([2]);
  expect(rows("/([/")).toMatch(/regular expression/);
  expect(rows("/a/xyz")).toMatch(/flags/);
  expect(rows("/(a+)+$/")).toMatch(/repetition/);
  expect(rows(`/${"a".repeat(501)}/`)).toMatch(/longer/);
});

test("an exclamation mark turns any filter round", () => {
  expect(rows("!matmul")).toEqual([1, 2, 3]);
  expect(rows("!/^m/")).toEqual([1, 2, 3]);
  expect(rows("!>3s", TIME)).toEqual([0, 3]);
  expect(rows("!=MatMul")).toEqual([1, 2]);
});

test("times are compared in any unit, bare numbers in that of the header", () => {
  expect(TIME.scale?.unit).toBe("s");
  expect(rows(">3", TIME)).toEqual([1, 2]);
  expect(rows("> 5000 ms", TIME)).toEqual([2]);
  expect(rows("<=5s", TIME)).toEqual([0, 1]);
  expect(rows("1s..5000ms", TIME)).toEqual([0, 1]);
  expect(rows("..2s", TIME)).toEqual([0]);
  expect(rows("5s..", TIME)).toEqual([1, 2]);
  expect(rows("5", TIME)).toEqual([1]);
  expect(rows("–", TIME)).toEqual([3]);
});

test("shares are compared in percent, counts with their grouping", () => {
  expect(rows("<=10%", SHARE)).toEqual([0, 2]);
  expect(rows("25", SHARE)).toEqual([1]);
  expect(rows(">=1,500", COUNT)).toEqual([1]);
  expect(rows(">1k", COUNT)).toEqual([1]);
  expect(rows("!=20", COUNT)).toEqual([0, 1, 3]);
});

test("what is not a number says so", () => {
  expect(rows(">fast", TIME)).toMatch(/Not a number/);
  expect(rows(">5 parsecs", TIME)).toMatch(/Not a number/);
  expect(rows("1..x", TIME)).toMatch(/Not a number/);
});

test("marks are yes or no", () => {
  expect(rows("yes", USED)).toEqual([0, 3]);
  expect(rows("N", USED)).toEqual([1]);
  expect(rows("none", USED)).toEqual([2]);
  expect(rows("maybe", USED)).toMatch(/yes or no/);
});
