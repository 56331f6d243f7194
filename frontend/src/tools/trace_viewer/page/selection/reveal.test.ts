import { expect, test } from "vitest";
import { placeHosts } from "../../model/place_hosts";
import { sampleTimeline } from "../../protocol/sample.test_helper";
import { createPage } from "../page";
import { goTo, keepSelectionInSight, revealLane, revealRows, trackOfRow } from "./reveal";

function modelOf() {
  const { model } = createPage("r");
  model.hosts.value = placeHosts([{ events: sampleTimeline(), derived: null }]);
  model.view.value = { from: 0, to: 1e10 };
  model.height.value = 100;
  return model;
}

const PLACE = { row: 5, startPs: 60e9, durationPs: 1e9, name: "matmul" };
const KEY = { host: 0, part: "events", id: 9 } as const;

test("going to an event selects it, brings it into view and opens what it lies in", () => {
  const model = modelOf();
  const section = "s/host:CPU@h0";
  model.arrangement.value = {
    ...model.arrangement.value,
    collapsed: new Set([section]),
    hidden: new Set(["e2@h0", "e1@h0"]),
    trackFilter: "stream",
  };
  goTo(model, KEY, PLACE);
  expect(model.selection.value).toEqual({ ...KEY, place: PLACE });
  expect(model.view.value.from).toBeLessThan(60e9);
  expect(model.view.value.to).toBeGreaterThan(61e9);
  const { collapsed, hidden, trackFilter } = model.arrangement.value;
  expect([[...collapsed], [...hidden], trackFilter]).toEqual([[], ["e1@h0"], ""]);
  const lane = model.lanes.value.byKey.get("e2@h0")!;
  const bottom = lane.top + 2 * 18;
  expect(model.scrollTop.value + 100).toBeGreaterThanOrEqual(bottom);
});

test("the rows that a link is about are opened, and the first of them is in sight", () => {
  const { model } = createPage("r");
  const hosts = ["h0", "h1", "h2"];
  const events = hosts.map((host) => ({ events: sampleTimeline({ host }), derived: null }));
  model.hosts.value = placeHosts(events);
  model.height.value = 60;
  const above = hosts.map((host) => `h@${host}`);
  model.arrangement.value = { ...model.arrangement.value, collapsed: new Set(above) };
  revealRows(model, [
    { host: 2, part: "events", row: 5 },
    { host: 1, part: "events", row: 5 },
  ]);
  expect([...model.arrangement.value.collapsed]).toEqual(["h@h0"]);
  const lane = model.lanes.value.byKey.get("e2@h2")!;
  const top = lane.top + 18 - model.scrollTop.value;
  expect(top).toBeGreaterThanOrEqual(0);
  expect(top + 18).toBeLessThanOrEqual(60);
});

test("what is in view already stays where it is", () => {
  const model = modelOf();
  model.height.value = 1000;
  const { view } = model;
  const before = view.value;
  goTo(model, KEY, { ...PLACE, startPs: 5e9 });
  expect([view.value, model.scrollTop.value]).toEqual([before, 0]);
});

test("the selected row stays in sight when the timeline becomes lower", () => {
  const model = modelOf();
  model.height.value = 400;
  goTo(model, KEY, { ...PLACE, startPs: 5e9 });
  const stop = keepSelectionInSight(model);
  model.height.value = 60;
  const lane = model.lanes.value.byKey.get("e2@h0")!;
  const top = lane.top + 18 - model.scrollTop.value;
  expect(top).toBeGreaterThanOrEqual(0);
  expect(top + 18).toBeLessThanOrEqual(60);
  stop();
});

test("a lane of a list is shown, whatever hides it", () => {
  const model = modelOf();
  model.arrangement.value = { ...model.arrangement.value, hidden: new Set(["e2@h0"]) };
  revealLane(model, "e2@h0");
  expect(model.lanes.value.byKey.has("e2@h0")).toBe(true);
});

test("a row leads to its track; rows of none lead nowhere", () => {
  const { tracks } = sampleTimeline();
  expect([0, 1, 2, 5].map((row) => trackOfRow(tracks, row)?.id)).toEqual([0, 0, 1, 2]);
  expect(trackOfRow(tracks, 6)).toBeNull();
  expect(trackOfRow([], 0)).toBeNull();
});
