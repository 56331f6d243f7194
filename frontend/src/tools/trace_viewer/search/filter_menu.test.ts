import { expect, test } from "vitest";
import { NO_FILTER } from "../protocol/questions";
import { describeFilter } from "./filter_menu";

test("a filter is said in short", () => {
  expect(describeFilter(NO_FILTER)).toBe("");
  const filter = { ...NO_FILTER, name: "a|b", isRegex: true, categories: ["x", "y"], minPs: 5e6 };
  expect(describeFilter(filter)).toBe("/a|b/, x or y, ≥ 5.00 µs");
  expect(describeFilter({ ...NO_FILTER, categories: ["x", "y", "z"] })).toBe("3 categories");
});
