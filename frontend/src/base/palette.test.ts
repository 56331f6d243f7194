import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chooseColors, textColorOn } from "./palette";

test("a name has the color of its meaning where no other has that meaning", () => {
  expect(chooseColors(["IDLE", "MatMul", "MemcpyHToD"])).toEqual([
    "var(--c-idle)",
    "var(--c-compute16)",
    "var(--c-copy)",
  ]);
  const copies = chooseColors(["copy-start", "copy-done", "add"]);
  expect(new Set(copies).size).toBe(3);
  expect(copies[0]).not.toBe("var(--c-copy)");
});

test("eight names have eight colors", () => {
  expect(new Set(chooseColors([..."abcdefgh"])).size).toBe(8);
});

/** Of the custom property, [light, dark]. */
function colors(name: string): [string, string] {
  const css = readFileSync(join(import.meta.dirname, "../styles/tokens.css"), "utf8");
  const value = new RegExp(`--${name}:\\s*([^;]+);`).exec(css)?.[1] ?? "";
  const values = value.match(/#[0-9a-f]{6}/gi) ?? [];
  return [values[0]!, values[1] ?? values[0]!];
}

/** Source: WCAG 2.2, relative luminance and contrast ratio. */
function contrast(one: string, other: string): number {
  const [a, b] = [one, other].map((hex) => {
    const [red, green, blue] = [1, 3, 5]
      .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  });
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

test.each(
  "compute16 compute32 compute input output launch host collective copy transfer compile idle wait".split(
    " ",
  ),
)("text upon %s is read in both themes", (name) => {
  const ink = textColorOn(`var(--c-${name})`).replace(/^var\(--|\)$/g, "");
  colors(`c-${name}`).forEach((fill, theme) => {
    expect(contrast(fill, colors(ink)[theme])).toBeGreaterThan(4.5);
  });
});
