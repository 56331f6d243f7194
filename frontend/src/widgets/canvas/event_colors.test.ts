import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toLab } from "../../base/oklab";
import {
  colorOfMeaning,
  type EventColors,
  HUES,
  hueColors,
  hueOfName,
  hueOfNumber,
  makeColors,
  parseRgb,
  toCss,
} from "./event_colors";

const css = readFileSync(join(import.meta.dirname, "../../styles/tokens.css"), "utf8");

function themed(isDark: boolean): EventColors {
  return makeColors((property) => {
    const value = new RegExp(`${property}:\\s*([^;]+);`).exec(css)?.[1] ?? "";
    const values = value.match(/#[0-9a-f]{6}/gi) ?? [];
    return (isDark ? values[1] : undefined) ?? values[0] ?? "";
  });
}

/** Source: WCAG 2.2, relative luminance and contrast ratio. */
function contrast(one: string, other: string): number {
  const [a, b] = [one, other].map((color) => {
    const [red, green, blue] = parseRgb(color)
      .map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  });
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

test.each([false, true])("text reads on every fill, and fills stand out (dark: %s)", (isDark) => {
  const colors = themed(isDark);
  expect(colors.isDark).toBe(isDark);
  colors.fills.forEach((fill, index) => {
    expect(contrast(toCss(fill), colors.textColors[index])).toBeGreaterThan(4.5);
    if (index < HUES) expect(contrast(toCss(fill), colors.css.background)).toBeGreaterThan(1.9);
  });
});

test.each([false, true])("the hues are of one lightness and all different (dark: %s)", (isDark) => {
  const hues = hueColors(isDark);
  const light = hues.map(
    (rgb) => toLab(`#${rgb.map((part) => part.toString(16).padStart(2, "0")).join("")}`)[0],
  );
  expect(Math.max(...light) - Math.min(...light)).toBeLessThan(0.01);
  expect(new Set(hues.map(String)).size).toBe(HUES);
});

test("names spread over all hues, and keep theirs", () => {
  const counts = new Array<number>(HUES).fill(0);
  for (let index = 0; index < 2400; index++) counts[hueOfName(`fusion.${index}`)]++;
  expect(Math.min(...counts)).toBeGreaterThan(50);
  expect(Math.max(...counts)).toBeLessThan(200);
  expect(hueOfName("MatMul")).toBe(hueOfName("MatMul"));
  expect(new Set(Array.from({ length: HUES }, (_, index) => hueOfNumber(index))).size).toBe(HUES);
});

test("a category has the color of its meaning, else gray", () => {
  expect(colorOfMeaning("input")).toBe(HUES + 3);
  expect(colorOfMeaning("")).toBe(colorOfMeaning("unheard of"));
});
