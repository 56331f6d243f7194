import { expect, test } from "vitest";
import { groupHosts } from "../model/lanes/groups";
import { lanesInView, layOutLanes } from "../model/lanes/lane_layout";
import { placeHosts } from "../model/place_hosts";
import { type Arrangement, NO_ARRANGEMENT } from "../model/types";
import { chooseLevel } from "../model/view/view_math";
import { sampleDerived, sampleTimeline } from "../protocol/sample.test_helper";
import { busyWants, counterWants, matchWants, tileWants, type ViewInput } from "./wants";

const MS = 1e9;
const counters = [{ id: 0, section: 0, name: "memory", unit: "bytes", points: 9 }];
const hosts = placeHosts([{ events: sampleTimeline({ counters }), derived: sampleDerived() }]);

function view(patch: Partial<Arrangement> = {}, more: Partial<ViewInput> = {}): ViewInput {
  const list = layOutLanes(groupHosts(hosts), { ...NO_ARRANGEMENT, ...patch });
  const base = { view: { from: 0, to: 100 * MS }, scrollTop: 0, height: 1000, ...more };
  return {
    level: chooseLevel((base.view.to - base.view.from) / 1340),
    list,
    color: "name",
    stepRow: null,
    lanes: lanesInView(list, base.scrollTop, base.height),
    ...base,
  };
}
const rows = (input: ViewInput) =>
  Object.fromEntries(tileWants(input).map(({ source, rows: of }) => [source.part, of]));

test("a view wants the rows that it shows, of each part", () => {
  expect(rows(view())).toEqual({ derived: [0], events: [0, 1, 2, 3, 4, 5] });
  expect(rows(view({ collapsed: new Set(["s/host:CPU@h0"]) }))).toEqual({
    derived: [0],
    events: [0, 1],
  });
  expect(rows(view({ pinned: ["e2@h0"] }, { height: 86 })).events).toEqual([4, 5]);
});

test("the tiles in view are few, and those of the trace alone", () => {
  const [{ level, from, to }] = tileWants(view());
  expect(2 ** level).toBeGreaterThan((100 * MS) / 1340 / 1.5);
  expect(to - from).toBeLessThanOrEqual(4);
  const far = tileWants(view({}, { view: { from: 500 * MS, to: 600 * MS } }));
  expect(far.every((want) => want.to === want.from)).toBe(true);
});

test("rows next to those in view are known for later", () => {
  const [derived] = tileWants(view({}, { height: 40 }));
  expect(derived.source.part).toBe("derived");
  const near = tileWants(view({}, { height: 60 })).find(({ source }) => source.part === "events");
  expect(near?.rows).toEqual([0]);
  expect(near?.near()).toEqual([0, 1]);
});

test("colored by step, the steps are wanted even out of view", () => {
  const input = view({ hidden: new Set(["d0@h0"]) });
  expect(rows(input).derived).toBeUndefined();
  expect(rows({ ...input, color: "step" }).derived).toEqual([0]);
});

test("counters are wanted in view and, for their scale, as a whole", () => {
  const wants = counterWants(view({}, { view: { from: 40 * MS, to: 41 * MS } }));
  expect(wants.map(({ level, rows: ids }) => [level, ids])).toEqual([
    [28, [0]],
    [19, [0]],
  ]);
});

test("folded sections want their busy share, open ones do not", () => {
  expect(busyWants(view())).toEqual([]);
  const folded = busyWants(view({ collapsed: new Set(["s/device:GPU:0@h0", "e1@h0"]) }));
  expect(folded.map(({ source, rows: ids }) => [source.part, ids])).toEqual([["events", [0]]]);
});

test("marks are wanted for the rows in view", () => {
  expect(matchWants(view()).map(({ rows: of }) => of.length)).toEqual([1, 6]);
});
