import { expect, test } from "vitest";
import { groupHosts } from "./groups";
import { firstLaneBelow, HEADER_HEIGHT, layOutLanes, ROW_HEIGHT, TRACK_GAP } from "./lanes";
import { NO_ARRANGEMENT, placeHosts } from "./model";
import { sampleDerived, sampleTimeline } from "./sample.test_helper";

const hosts = placeHosts([{ events: sampleTimeline(), derived: sampleDerived() }]);
const groups = groupHosts(hosts);
const keys = (lanes: readonly { readonly key: string }[]) => lanes.map(({ key }) => key);

test("sections of both parts are one, with steps first", () => {
  expect(groups[0].sections.map(({ tracks }) => keys(tracks))).toEqual([
    ["d0@h0", "e0@h0"],
    ["e1@h0", "e2@h0"],
  ]);
  expect(groups[0].sections[0].ids).toEqual({ events: 0, derived: 0 });
  expect(groups[0].sections[1].ids).toEqual({ events: 1, derived: -1 });
});

test("lanes lie below each other, a row per depth", () => {
  const { scrolled, scrolledHeight } = layOutLanes(groups, NO_ARRANGEMENT);
  expect(keys(scrolled)).toEqual([
    "s/device:GPU:0@h0",
    "d0@h0",
    "e0@h0",
    "s/host:CPU@h0",
    "e1@h0",
    "e2@h0",
  ]);
  expect(scrolled[2]).toMatchObject({
    top: HEADER_HEIGHT + ROW_HEIGHT + TRACK_GAP,
    height: 2 * ROW_HEIGHT + TRACK_GAP,
    rowHeight: ROW_HEIGHT,
  });
  expect(scrolledHeight).toBe(2 * HEADER_HEIGHT + 7 * ROW_HEIGHT + 4 * TRACK_GAP);
});

test("collapsed tracks keep all their rows in the height of one", () => {
  const { scrolled } = layOutLanes(groups, {
    ...NO_ARRANGEMENT,
    collapsed: new Set(["e1@h0", "s/device:GPU:0@h0"]),
  });
  expect(keys(scrolled)).toEqual(["s/device:GPU:0@h0", "s/host:CPU@h0", "e1@h0", "e2@h0"]);
  expect(scrolled[2]).toMatchObject({ height: ROW_HEIGHT + TRACK_GAP, rowHeight: ROW_HEIGHT / 2 });
});

test("what is pinned stays on top, what is hidden is gone, the order is the user's", () => {
  const list = layOutLanes(groups, {
    ...NO_ARRANGEMENT,
    pinned: ["e2@h0", "gone@h0"],
    hidden: new Set(["d0@h0"]),
    order: ["s/host:CPU@h0", "e2@h0"],
  });
  expect(keys(list.pinned)).toEqual(["e2@h0"]);
  expect(list.pinnedHeight).toBe(2 * ROW_HEIGHT + TRACK_GAP);
  expect(keys(list.scrolled)).toEqual([
    "s/host:CPU@h0",
    "e2@h0",
    "e1@h0",
    "s/device:GPU:0@h0",
    "e0@h0",
  ]);
});

test("a track filter leaves sections that have such tracks", () => {
  const list = layOutLanes(groups, { ...NO_ARRANGEMENT, trackFilter: "STREAM" });
  expect(keys(list.scrolled)).toEqual(["s/device:GPU:0@h0", "e0@h0"]);
});

test("several hosts have headers of their own, and fold", () => {
  const two = groupHosts(
    placeHosts(["h0", "h1"].map((host) => ({ events: sampleTimeline({ host }), derived: null }))),
  );
  const { scrolled } = layOutLanes(two, { ...NO_ARRANGEMENT, collapsed: new Set(["h@h1"]) });
  expect(scrolled.map(({ kind, indent }) => `${kind} ${indent}`)).toEqual([
    "host 0",
    "section 1",
    "track 2",
    "section 1",
    "track 2",
    "track 2",
    "host 0",
  ]);
});

test("hosts share an axis that begins with the earliest event", () => {
  const place = (host: string, origin_ns: string, begin_ps: number) => ({
    events: sampleTimeline({ host, origin_ns, begin_ps }),
    derived: null,
  });
  const placed = placeHosts([place("h0", "2000", 5000), place("h1", "1000", 7000)]);
  expect(placed.map(({ offsetPs }) => offsetPs)).toEqual([1e6 - 7000, -7000]);
});

test("the lane at a height is found", () => {
  const { scrolled } = layOutLanes(groups, NO_ARRANGEMENT);
  expect(firstLaneBelow(scrolled, 0)).toBe(0);
  expect(firstLaneBelow(scrolled, HEADER_HEIGHT)).toBe(1);
  expect(firstLaneBelow(scrolled, 1e9)).toBe(scrolled.length);
});
