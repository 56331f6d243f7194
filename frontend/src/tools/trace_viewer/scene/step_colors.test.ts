import { expect, test } from "vitest";
import { GRAY, hueOfNumber } from "../../../widgets/canvas/event_colors";
import type { TrackLane } from "../model/lanes/lane_layout";
import { stage } from "./scene.test_helper";
import { colorByStep } from "./step_colors";

const event = (row: number, start: number, duration: number) => ({ row, start, duration, type: 0 });

test("an event has the color of the step in which it begins", () => {
  const { input, load } = stage([event(0, 1000, 500), event(0, 1500, 500), event(1, 0, 9)], 4000);
  const lane = input.lanes.find(({ lane: one }) => one.kind === "track")!.lane as TrackLane;
  const steps = { ...lane.item, track: { ...lane.item.track, kind: "steps" } };
  const section = { ...lane.section, tracks: [steps] };
  const colorOf = colorByStep(input.tiles, 0, { ...lane, section });
  expect(colorOf(0, 1200)).toBe(GRAY);
  load(0);
  const known = colorByStep(input.tiles, 0, { ...lane, section });
  expect([500, 1000, 1499, 1500, 1999, 2000, 3000].map((at) => known(0, at))).toEqual([
    GRAY,
    hueOfNumber(0),
    hueOfNumber(0),
    hueOfNumber(1),
    hueOfNumber(1),
    GRAY,
    GRAY,
  ]);
  expect(hueOfNumber(0)).not.toBe(hueOfNumber(1));
});

test("without a track of steps all is gray", () => {
  const { input } = stage([event(0, 0, 10)], 4000);
  const lane = input.lanes.find(({ lane: one }) => one.kind === "track")!.lane as TrackLane;
  expect(colorByStep(input.tiles, 0, lane)(0, 5)).toBe(GRAY);
});
