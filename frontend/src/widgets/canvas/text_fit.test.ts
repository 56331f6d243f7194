import { expect, test, vi } from "vitest";
import { TextFit } from "./text_fit";

const measure = vi.fn((text: string) => (text === "…" ? 10 : [...text].length * 6));

test("a text is cut so that it fits with its ellipsis", () => {
  const fit = new TextFit(measure);
  expect(fit.fit("MatMul", 36)).toBe("MatMul");
  expect(fit.fit("MatMul", 35)).toBe("MatM…");
  expect(fit.fit("MatMul", 16)).toBe("M…");
  expect(fit.fit("MatMul", 15)).toBe("");
  expect(fit.fit("", 0)).toBe("");
});

test("letters beyond the first plane are not cut in two", () => {
  const fit = new TextFit(measure);
  expect(fit.fit("😀😀😀", 18)).toBe("😀😀😀");
  expect(fit.fit("😀😀😀😀", 22)).toBe("😀😀…");
  expect(fit.width("a😀")).toBe(12);
});

test("each letter is measured once", () => {
  const fit = new TextFit(measure);
  measure.mockClear();
  for (let index = 0; index < 100; index++) fit.fit("banana😀", 30);
  expect(measure.mock.calls.length).toBeLessThanOrEqual(4);
});
