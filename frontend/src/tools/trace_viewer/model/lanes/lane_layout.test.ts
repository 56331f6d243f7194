import { expect, test } from "vitest";
import { sampleDerived, sampleTimeline } from "../../protocol/sample.test_helper";
import { placeHosts } from "../place_hosts";
import { NO_ARRANGEMENT } from "../types";
import { groupHosts } from "./groups";
import {
  depthsInView,
  findRow,
  firstLaneBelow,
  HEADER_HEIGHT,
  lanesInView,
  lastScrollTop,
  layOutLanes,
  type PlacedLane,
  ROW_HEIGHT,
  TRACK_GAP,
  type TrackLane,
} from "./lane_layout";

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

test("tracks without events are one line, or the header of their section", () => {
  const folded = {
    ...NO_ARRANGEMENT,
    collapsed: new Set(["is/device:GPU:0@h0", "is/host:CPU@h0"]),
  };
  const idle = new Set(["d0@h0", "e0@h0", "e2@h0"]);
  const list = layOutLanes(groups, folded, idle);
  expect(keys(list.scrolled)).toEqual([
    "s/device:GPU:0@h0",
    "s/host:CPU@h0",
    "e1@h0",
    "is/host:CPU@h0",
  ]);
  const [device, host] = list.scrolled;
  expect(device).toMatchObject({ isIdle: true, isCollapsed: true, foldKey: "is/device:GPU:0@h0" });
  expect(host).toMatchObject({ isIdle: false, isCollapsed: false, foldKey: "s/host:CPU@h0" });
  // A row of a folded track is where its line or its section is.
  expect(findRow(list, groups, 0, "events", 4)?.lane.key).toBe("is/host:CPU@h0");
  expect(findRow(list, groups, 0, "events", 0)?.lane.key).toBe("s/device:GPU:0@h0");
  const shown = layOutLanes(groups, { ...folded, isIdleShown: true }, idle);
  expect(keys(shown.scrolled)).toEqual(keys(layOutLanes(groups, NO_ARRANGEMENT).scrolled));
  const opened = layOutLanes(groups, { ...folded, collapsed: new Set() }, idle);
  expect(keys(opened.scrolled)).toEqual([...keys(shown.scrolled), "is/host:CPU@h0"]);
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

test("lanes in view are placed below what is pinned", () => {
  const list = layOutLanes(groups, { ...NO_ARRANGEMENT, pinned: ["d0@h0"] });
  const placed = lanesInView(list, 30, 100);
  const pinned = ROW_HEIGHT + TRACK_GAP;
  expect(placed.map(({ lane, y, clip }) => [lane.key, y, clip])).toEqual([
    ["d0@h0", 0, 0],
    ["d0@h0", pinned + HEADER_HEIGHT - 30, pinned],
    ["e0@h0", pinned + HEADER_HEIGHT + pinned - 30, pinned],
    ["s/host:CPU@h0", 78, pinned],
  ]);
  expect(lastScrollTop(list, 100)).toBe(list.scrolledHeight - 100 + pinned);
  expect(lastScrollTop(list, 1000)).toBe(0);
});

test("the depths in view are those between the pinned lanes and the bottom", () => {
  const deep = groupHosts(
    placeHosts([
      {
        events: sampleTimeline({
          tracks: [{ id: 0, section: 0, row: 0, rows: 100, kind: "thread" }],
        }),
        derived: null,
      },
    ]),
  );
  const depths = (collapsed: readonly string[], scrollTop: number) => {
    const list = layOutLanes(deep, { ...NO_ARRANGEMENT, collapsed: new Set(collapsed) });
    const placed = lanesInView(list, scrollTop, 90).find(({ lane }) => lane.kind === "track")!;
    return depthsInView(placed as PlacedLane<TrackLane>, 90);
  };
  expect(depths([], 0)).toEqual([0, 4]);
  expect(depths([], HEADER_HEIGHT + 20 * ROW_HEIGHT + 1)).toEqual([20, 26]);
  expect(depths(["e0@h0"], 0)).toEqual([0, 9]);
});

test("a row leads to its lane, or to what it is folded into", () => {
  const find = (collapsed: readonly string[], hidden: readonly string[], row: number) => {
    const choices = { collapsed: new Set(collapsed), hidden: new Set(hidden) };
    const rowPlace = findRow(
      layOutLanes(groups, { ...NO_ARRANGEMENT, ...choices }),
      groups,
      0,
      "events",
      row,
    );
    return rowPlace && [rowPlace.lane.key, rowPlace.depth];
  };
  expect(find([], [], 3)).toEqual(["e1@h0", 1]);
  expect(find(["s/host:CPU@h0"], [], 3)).toEqual(["s/host:CPU@h0", 1]);
  expect(find([], ["s/host:CPU@h0"], 3)).toBeNull();
  expect(find([], [], 6)).toBeNull();
});
