import { expect, test } from "vitest";
import { TextFit } from "../../../../widgets/canvas/text_fit";
import { stepTexts, timeInStep } from "./step_axis";

/** Every letter is 6 pixels wide. */
const fit = new TextFit((text) => text.length * 6);
const MS = 1e9;
const step = (number: number, from: number, to: number) => ({
  name: `train ${number}`,
  from: from * MS,
  to: to * MS,
});

const texts = (steps: ReturnType<typeof step>[], from: number, to: number, width = 1000) =>
  stepTexts(steps, { from: from * MS, to: to * MS }, width, fit);

test("times count from the start of each step, to the next one", () => {
  const labels = texts([step(4, 100, 140), step(5, 150, 200)], 100, 200);
  expect(labels.map(({ x, text }) => [x, text])).toEqual([
    [4, "train 4"],
    [104, "10 ms"],
    [204, "20 ms"],
    [304, "30 ms"],
    [404, "40 ms"],
    [504, "train 5"],
    [604, "10 ms"],
    [704, "20 ms"],
    [804, "30 ms"],
    [904, "40 ms"],
  ]);
  expect(labels.filter(({ isName }) => isName)).toHaveLength(2);
});

test("a step whose name is a number is said to be a step", () => {
  const [first] = texts([{ ...step(4, 0, 100), name: "4" }], 0, 100);
  expect(first.text).toBe("step 4");
});

test("a step that began before the view has its name at the edge", () => {
  const labels = texts([step(4, 0, 1000)], 505, 605);
  expect(labels[0]).toEqual({ x: 4, text: "train 4", isName: true });
  expect(labels[1]).toEqual({ x: 54, text: "510 ms", isName: false });
});

test("texts never overlap, and narrow steps have none", () => {
  for (let width = 20; width < 2000; width *= 1.3) {
    const steps = [step(4, 100, 110), step(5, 110, 111), step(6, 112, 180), step(7, 180, 190)];
    const labels = texts(steps, 100, 190, width);
    labels.forEach(({ x, text }, index) => {
      const end = x + fit.width(text);
      expect(end).toBeLessThanOrEqual(labels[index + 1]?.x ?? width);
    });
  }
  expect(texts([step(4, 0, 1)], 0, 1000)).toEqual([]);
});

test("the pointer's time counts from its step", () => {
  const steps = [step(4, 100, 140), step(5, 150, 200)];
  expect(timeInStep(steps, 145 * MS, 0)).toBe("45 ms");
  expect(timeInStep(steps, 150 * MS, 0)).toBe("0 ps");
  expect(timeInStep(steps, 99 * MS, 0)).toBe("");
  expect(timeInStep(steps, 200 * MS, 0)).toBe("");
});
