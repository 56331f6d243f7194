import { expect, test } from "vitest";
import { stage } from "./scene.test_helper";
import { stepsInView } from "./steps_in_view";

const event = (row: number, start: number, duration: number, type: number) => ({
  row,
  start,
  duration,
  type,
});
const SPAN = { from: 600, to: 3000 };

test("steps are those of the row that reach into the view, each once", () => {
  const steps = [event(0, 0, 500, 1), event(0, 500, 1500, 2), event(0, 2100, 1500, 3)];
  const { load, source, input } = stage([...steps, event(1, 700, 10, 4)], 4000);
  expect(stepsInView(input.tiles, { source, row: 0 }, SPAN, 0)).toEqual([]);
  load(0);
  const inView = stepsInView(input.tiles, { source, row: 0 }, SPAN, 0);
  expect(inView.map(({ from, to, name }) => [from, to, name])).toEqual([
    [500, 2000, "op 2"],
    [2100, 3600, "op 3"],
  ]);
});

test("steps that are too many for times within them are none", () => {
  const steps = Array.from({ length: 300 }, (_, index) => event(0, index * 10, 9, index));
  const { load, source, input } = stage(steps, 4000);
  load(0);
  expect(stepsInView(input.tiles, { source, row: 0 }, SPAN, 0)).toEqual([]);
});
