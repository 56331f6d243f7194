import { expect, test } from "vitest";
import { chooseColors } from "./palette";

test("a name has the colour of its meaning where no other has that meaning", () => {
  expect(chooseColors(["IDLE", "MatMul", "MemcpyHToD"])).toEqual([
    "var(--c-idle)",
    "var(--c-compute16)",
    "var(--c-copy)",
  ]);
  const copies = chooseColors(["copy-start", "copy-done", "add"]);
  expect(new Set(copies).size).toBe(3);
  expect(copies[0]).not.toBe("var(--c-copy)");
});

test("eight names have eight colours", () => {
  expect(new Set(chooseColors([..."abcdefgh"])).size).toBe(8);
});
