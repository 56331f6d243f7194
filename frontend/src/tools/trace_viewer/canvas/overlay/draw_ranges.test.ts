import { expect, test } from "vitest";
import { TextFit } from "../../../../widgets/canvas/text_fit";
import type { Mark } from "../../model/types";
import { axisPills, cursorPill, lengthPill, markFlag, meets } from "./draw_ranges";

/** Every letter is 6 pixels wide. */
const fit = new TextFit((text) => text.length * 6);
const view = { from: 0, to: 1000 };

const place = (marks: readonly Mark[]) => ({ view, width: 1000, marks });
const mark = (from: number, label: string): Mark => ({ from, to: from, label });

test("the length of a part is in its middle", () => {
  const { x, width, text } = lengthPill(place([]), { from: 200, to: 600 }, fit);
  expect(text).toBe("400 ps");
  expect(x + width / 2).toBe(400);
  expect(lengthPill(place([]), { from: -900, to: 10 }, fit).x).toBe(2);
});

test("the flag of a mark does not hide it", () => {
  const input = place([mark(380, "here"), mark(470, "there")]);
  const pill = lengthPill(input, { from: 200, to: 600 }, fit);
  const flags = input.marks.map((mark) => markFlag(mark, input, fit));
  expect(flags.some((flag) => meets(flag, pill))).toBe(false);
  expect(Math.abs(pill.x - 377)).toBeLessThan(80);
});

test("where there is no room it stays in the middle", () => {
  const marks = Array.from({ length: 60 }, (_, index) => mark(index * 20, "mark"));
  expect(lengthPill(place(marks), { from: 200, to: 600 }, fit).x).toBe(377);
});

test("times are not written beneath flags and lengths", () => {
  const input = { ...place([mark(100, "m")]), range: { from: 500, to: 700, tracks: null } };
  const pills = axisPills({ ...input, drag: null, pointerX: null, zero: 0 }, fit);
  expect(pills.map(({ text }) => text)).toEqual(["m", "200 ps"]);
});

test("the time under the pointer is as exact as a pixel, and stays on the axis", () => {
  const at = (pointerX: number | null, drag = null) =>
    cursorPill(
      { view: { from: 0, to: 1e9 }, width: 1000, marks: [], drag, pointerX, zero: -5e9 },
      fit,
    );
  const pill = at(250)!;
  expect(pill.text).toBe("5.250 ms");
  expect(pill.x + pill.width / 2).toBe(250);
  expect(at(0)?.x).toBe(2);
  expect(at(null)).toBeNull();
});
