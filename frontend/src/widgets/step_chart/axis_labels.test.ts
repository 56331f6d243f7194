import { expect, test } from "vitest";
import { axisLabels } from "./axis_labels";

test("short labels stay as they are", () => {
  expect(axisLabels(["train 3", "train 4"])).toEqual(["train 3", "train 4"]);
});

test("long labels lose what they share, so that they differ", () => {
  expect(axisLabels(["Profiled batch 3", "Profiled batch 4"])).toEqual(["3", "4"]);
});

test("of other long labels the end stays", () => {
  expect(axisLabels(["train 7 (GPU:4)", "an evaluation (GPU:12)"])).toEqual([
    "…n 7 (GPU:4)",
    "…on (GPU:12)",
  ]);
  expect(axisLabels([])).toEqual([]);
});
