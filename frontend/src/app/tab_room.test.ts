import { expect, test } from "vitest";
import { overflow, TabRoom, type ToolTab } from "./tab_room";

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

const room = (current: string) => new TabRoom(current, (text) => text.length * 7.6);

// Each takes 24 + 10 × 7.6 = 100 px, "More ▾" 69.6 px.
const OVERVIEW = tab("aaaaaaaaaa");
const GRAPH = tab("bbbbbbbbbb", true);
const ROOFLINE = tab("cccccccccc", true);
const KERNELS = tab("dddddddddd", false, "the trace has no GPU");
const TRACE = tab("eeeeeeeeee");
const ALL = [OVERVIEW, GRAPH, ROOFLINE, KERNELS, TRACE];

test.each([
  [500, []],
  [499, [KERNELS]],
  [470, [KERNELS]],
  [469, [ROOFLINE, KERNELS]],
  [300, [GRAPH, ROOFLINE, KERNELS]],
  [250, [GRAPH, ROOFLINE, KERNELS, TRACE]],
  [0, ALL],
])("of tabs of 500 px in %i px, those without data go first, then details", (width, rest) => {
  expect(overflow(ALL, width, room(""))).toEqual(rest);
});

test("the menu's button needs more room with the name of the current tab", () => {
  expect(overflow(ALL, 470, room("dddddddddd"))).toEqual([ROOFLINE, KERNELS]);
  expect(overflow(ALL, 470, room("aaaaaaaaaa"))).toEqual([KERNELS]);
});
