import { beforeEach, expect, test } from "vitest";
import { AXIS_HEIGHT, type Drag } from "../../canvas/overlay/overlay_input";
import { lanesInView, type PlacedLane } from "../../model/lanes/lane_layout";
import { createModel, type TimelineModel } from "../../model/model";
import { placeHosts } from "../../model/place_hosts";
import { sourceOf } from "../../model/sources";
import type { TimeRange, ViewApi } from "../../model/types";
import { toPs } from "../../model/view/view_math";
import { sampleTimeline } from "../../protocol/sample.test_helper";
import type { Snap } from "../../scene/hit_test";
import { dragTool, edgeOfRange } from "./drag_tools";

const MS = 1e9;

let model: TimelineModel;
let engine: {
  psAt: (x: number) => number;
  snapAt: (x: number, y: number, range: TimeRange | null) => Snap;
  lanes: readonly PlacedLane[];
  invalidate: () => void;
  drag: Drag | null;
};

beforeEach(() => {
  model = createModel({} as ViewApi);
  model.hosts.value = placeHosts([{ events: sampleTimeline(), derived: null }]);
  model.width.value = 1000;
  model.height.value = 60;
  model.view.value = { from: 0, to: 100 * MS };
  const psAt = (x: number) => toPs(x, model.view.peek(), 1000);
  engine = {
    psAt,
    // Edges at every 10 ms.
    snapAt: (x) => ({
      ps: Math.round(psAt(x) / (10 * MS)) * 10 * MS,
      isSnapped: true,
      rounded: null,
    }),
    lanes: lanesInView(model.lanes.peek(), 0, 200),
    invalidate: () => {},
    drag: null,
  };
});

const drag = (
  kind: Parameters<typeof dragTool>[0],
  from: readonly [number, number],
  ...through: (readonly [number, number])[]
) => {
  const tool = dragTool(kind, { model, engine }, ...from);
  for (const place of through) tool.move(...place);
  return { ...tool, drop: () => tool.drop(...through.at(-1)!) };
};
const view = () => [model.view.peek().from / MS, model.view.peek().to / MS];

test("a box is a part of the tracks that it touches", () => {
  const { drop } = drag(
    "select",
    [300, AXIS_HEIGHT + 30],
    [200, AXIS_HEIGHT + 10],
    [100, AXIS_HEIGHT + 90],
  );
  expect(engine.drag).toMatchObject({ kind: "box", from: 10 * MS, to: 30 * MS, top: 30 });
  expect(model.range.peek()).toBeNull();
  drop();
  expect(model.range.peek()).toEqual({ from: 10 * MS, to: 30 * MS, tracks: ["e0@h0"] });
  expect(model.rangeDrawn.peek()).toBe(1);
});

test("a box over headers alone is none, over a folded section all of its tracks", () => {
  drag("select", [300, AXIS_HEIGHT + 3], [100, AXIS_HEIGHT + 9]).drop();
  expect(model.range.peek()).toBeNull();
  const collapsed = new Set(["s/host:CPU@h0"]);
  model.arrangement.value = { ...model.arrangement.peek(), collapsed };
  engine.lanes = lanesInView(model.lanes.peek(), 0, 200);
  model.height.value = 200;
  drag("select", [300, AXIS_HEIGHT + 70], [100, AXIS_HEIGHT + 80]).drop();
  expect(model.range.peek()?.tracks).toEqual(["e1@h0", "e2@h0"]);
});

test("the picture follows a pan, and returns when it is given up", () => {
  model.view.value = { from: 20 * MS, to: 40 * MS };
  model.scrollTop.value = 10;
  const tool = drag("pan", [500, 100], [400, 80]);
  expect(view()).toEqual([22, 42]);
  expect(model.scrollTop.peek()).toBe(30);
  tool.cancel();
  expect(view()).toEqual([20, 40]);
  expect(model.scrollTop.peek()).toBe(10);
});

test("a pan does not leave the lanes", () => {
  drag("pan", [500, 100], [500, 900]);
  expect(model.scrollTop.peek()).toBe(0);
  drag("pan", [500, 1000], [500, -9000]);
  expect(model.scrollTop.peek()).toBe(model.lanes.peek().scrolledHeight - 60);
});

test("the zoom tool zooms up and down where the drag began, and to a box across", () => {
  drag("zoom", [500, 300], [502, 200]);
  const [from, to] = view();
  expect((from + to) / 2).toBeCloseTo(50);
  expect(to - from).toBeCloseTo(100 * Math.exp(-1));
  model.view.value = { from: 0, to: 100 * MS };
  const { drop } = drag("zoom", [600, 100], [200, 130]);
  expect(engine.drag).toMatchObject({ kind: "zoom", from: 20 * MS, to: 60 * MS });
  expect(view()).toEqual([0, 100]);
  drop();
  expect(view()).toEqual([20, 60]);
});

test("a drag along the axis zooms whatever the tool", () => {
  drag("axis", [250, 10], [500, 10]).drop();
  expect(view()).toEqual([25, 50]);
});

test("a ruler does not snap to itself", () => {
  const old = { from: 40 * MS, to: 60 * MS, tracks: null };
  model.range.value = old;
  const ranges: (TimeRange | null)[] = [];
  const { snapAt } = engine;
  engine.snapAt = (x, y, range) => {
    ranges.push(range);
    return snapAt(x, y, range);
  };
  drag("timing", [100, 60], [150, 60], [200, 60]);
  expect(ranges).toEqual([old, null, null]);
});

test("a ruler snaps at both ends and spans all tracks", () => {
  drag("timing", [312, 100], [590, 110]).drop();
  expect(model.range.peek()).toEqual({ from: 30 * MS, to: 60 * MS, tracks: null });
});

test("a ruler comes to the exact edges once it is dropped", async () => {
  const place = { row: 0, startPs: 31 * MS, durationPs: 28 * MS, name: "op" };
  model = createModel({
    place: async (_: unknown, id: number) => ({ id, place }),
  } as unknown as ViewApi);
  model.hosts.value = placeHosts([{ events: sampleTimeline(), derived: null }]);
  model.view.value = { from: 0, to: 100 * MS };
  const source = sourceOf(model.hosts.value[0], "events")!;
  const { snapAt } = engine;
  engine.snapAt = (x, y, range) => ({
    ...snapAt(x, y, range),
    rounded: { source, id: 3, isEnd: x > 400 },
  });
  drag("timing", [312, 100], [590, 110]).drop();
  expect(model.range.peek()).toMatchObject({ from: 30 * MS, to: 60 * MS });
  await new Promise((resolve) => setTimeout(resolve));
  expect(model.range.peek()).toEqual({ from: 31 * MS, to: 59 * MS, tracks: null });
});

test("an end of the range can be moved, by the timing and the select tool", () => {
  model.range.value = { from: 30 * MS, to: 60 * MS, tracks: ["e1@h0"] };
  expect(edgeOfRange({ model, engine }, 604)).toEqual({ other: 30 * MS });
  expect(edgeOfRange({ model, engine }, 450)).toBeNull();
  const tool = drag("select", [601, 50], [788, 50]);
  expect(model.range.peek()).toEqual({ from: 30 * MS, to: 80 * MS, tracks: ["e1@h0"] });
  tool.cancel();
  expect(model.range.peek()?.to).toBe(60 * MS);
  drag("timing", [299, 50], [905, 50]).drop();
  expect(model.range.peek()).toMatchObject({ from: 60 * MS, to: 90 * MS });
});
