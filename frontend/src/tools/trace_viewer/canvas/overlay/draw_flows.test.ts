import { expect, test } from "vitest";
import { groupHosts } from "../../model/lanes/groups";
import { HEADER_HEIGHT, layOutLanes, ROW_HEIGHT, TRACK_GAP } from "../../model/lanes/lane_layout";
import { placeHosts } from "../../model/place_hosts";
import { NO_ARRANGEMENT } from "../../model/types";
import { sampleDerived, sampleTimeline } from "../../protocol/sample.test_helper";
import { drawFlows } from "./draw_flows";

const index = sampleTimeline();
const groups = groupHosts(placeHosts([{ events: index, derived: sampleDerived() }]));
const rowOf = (track: number) => index.tracks[track].row;
const end = (track: number, startPs: number) => ({
  id: 0,
  row: rowOf(track),
  startPs: startPs + index.beginPs,
  durationPs: 100,
});

/** Where the arrow from a thread's event (100 to 200) to a kernel (at 600) begins and ends. */
function arrow(arrangement: Partial<typeof NO_ARRANGEMENT>, scrollTop = 0): number[][] {
  const ends: number[][] = [];
  const pen = {
    beginPath() {},
    stroke() {},
    fill() {},
    lineTo() {},
    setLineDash() {},
    bezierCurveTo() {},
    moveTo: (...at: number[]) => ends.push(at),
  } as unknown as CanvasRenderingContext2D;
  const { offsetPs } = groups[0].host;
  const from = index.beginPs + offsetPs;
  drawFlows(pen, {
    flows: [{ kind: "launch", from: end(1, 100), to: end(0, 600) }],
    selection: { host: 0, part: "events", id: 0, place: null },
    list: layOutLanes(groups, { ...NO_ARRANGEMENT, ...arrangement }),
    groups,
    view: { from, to: from + 1000 },
    width: 1000,
    height: 400,
    scrollTop,
    colors: { css: { background: "#fff", text: "#000" } as never },
  });
  // The line, its border, the head.
  return [ends[0] ?? [], ends.at(-1) ?? []];
}

const track = (rows: number) => rows * ROW_HEIGHT + TRACK_GAP;
const kernels = HEADER_HEIGHT + track(1) + ROW_HEIGHT / 2;
const thread = 2 * HEADER_HEIGHT + track(1) + track(2) + ROW_HEIGHT / 2;

test("an arrow leads from the end of one event to the begin of the other", () => {
  expect(arrow({})).toEqual([
    [200, thread],
    [600, kernels],
  ]);
  expect(arrow({}, 30)).toEqual([
    [200, thread - 30],
    [600, kernels - 30],
  ]);
});

test("pinned tracks are where arrows begin and end, however far the others are scrolled", () => {
  const pinned = track(2);
  expect(arrow({ pinned: ["e0@h0"] }, 30)).toEqual([
    [200, pinned + thread - 30],
    [600, ROW_HEIGHT / 2],
  ]);
});

test("a pinned track is met though its section is hidden", () => {
  const hidden = new Set(["s/device:GPU:0@h0"]);
  const ends = arrow({ pinned: ["e0@h0"], hidden });
  expect(ends[1]).toEqual([600, ROW_HEIGHT / 2]);
  expect(arrow({ hidden })).toEqual([[], []]);
});

test("what is folded is met at its header", () => {
  const [[, y]] = arrow({ collapsed: new Set(["s/host:CPU@h0"]) });
  expect(y).toBe(HEADER_HEIGHT + track(1) + track(2) + HEADER_HEIGHT / 2);
});

test("to what is hidden there is no arrow", () => {
  expect(arrow({ hidden: new Set(["h@h0"]) })).toEqual([[], []]);
});
