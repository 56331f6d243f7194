import { expect, test } from "vitest";
import { axisLabels, axisName } from "./axis_labels";

const steps = (labels: readonly string[], marker?: string) => ({
  labels,
  marker,
  isTruncated: labels.map(() => false),
});

test("labels lose what they share, which names the axis", () => {
  const labels = ["Profiled batch 4", "Profiled batch 13"];
  expect(axisLabels(labels)).toEqual(["4", "13"]);
  expect(axisName(steps(labels, "train"))).toBe("Profiled batch");
});

test("other labels stay whole, and the axis is named for what marks the steps", () => {
  const labels = ["train 7 (GPU:4)", "an evaluation (GPU:12)"];
  expect(axisLabels(labels)).toEqual(labels);
  expect(axisLabels(["Profiled batch 4"])).toEqual(["Profiled batch 4"]);
  expect(axisName(steps(["0", "1"], "train"))).toBe("train");
  expect(axisName(steps(["0", "1"]))).toBe("Step");
  expect(axisLabels([])).toEqual([]);
});

test("of names that no axis has room for the start stays", () => {
  expect(axisLabels(["a".repeat(100)])).toEqual([`${"a".repeat(39)}…`]);
});
