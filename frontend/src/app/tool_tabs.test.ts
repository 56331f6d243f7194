import { expect, test } from "vitest";
import { overflow, type ToolTab } from "./tool_tabs";

const tab = (short: string, isDetail = false, reason: string | null = null): ToolTab => ({
  name: short,
  short,
  title: short,
  also: [],
  address: "",
  isDetail,
  reason,
  hint: "",
});

// Each takes 26 + 10 × 7.4 = 100 px, "More" 84 px.
const OVERVIEW = tab("aaaaaaaaaa");
const GRAPH = tab("bbbbbbbbbb", true);
const ROOFLINE = tab("cccccccccc", true);
const KERNELS = tab("dddddddddd", false, "the trace has no GPU");
const TRACE = tab("eeeeeeeeee");
const ALL = [OVERVIEW, GRAPH, ROOFLINE, KERNELS, TRACE];

test.each([
  [500, []],
  [499, [KERNELS]],
  [484, [KERNELS]],
  [483, [ROOFLINE, KERNELS]],
  [300, [GRAPH, ROOFLINE, KERNELS]],
  [250, [GRAPH, ROOFLINE, KERNELS, TRACE]],
  [0, ALL],
])("of tabs of 500 px in %i px, those without data go first, then details", (width, rest) => {
  expect(overflow(ALL, width)).toEqual(rest);
});

test("the menu's button needs more room with the name of the current tab", () => {
  expect(overflow(ALL, 484, "dddddddddd")).toEqual([ROOFLINE, KERNELS]);
  expect(overflow(ALL, 484, "aaaaaaaaaa")).toEqual([KERNELS]);
});
