import { afterEach, expect, test, vi } from "vitest";
import { placeHosts } from "../model/place_hosts";
import { sampleDerived, sampleTimeline } from "../protocol/sample.test_helper";
import { fakeServer, Refusal, settle } from "../protocol/server.test_helper";
import { followIdle } from "./follow_idle";
import { createPage, initiallyFolded } from "./page";
import { goTo } from "./selection/reveal";

afterEach(() => vi.unstubAllGlobals());

function pageOf() {
  const page = createPage("r");
  const { model } = page;
  model.view.value = { from: 0, to: 1e10 };
  model.height.value = 100;
  model.hosts.value = placeHosts([{ events: sampleTimeline(), derived: sampleDerived() }]);
  model.arrangement.value = {
    ...model.arrangement.value,
    collapsed: initiallyFolded(model.groups.value, []),
  };
  return page;
}

const idleOf = (page: ReturnType<typeof pageOf>) => [...page.model.idle.value].sort();

test("tracks of both parts without events in the view are idle, at once when hosts come", async () => {
  const server = fakeServer({
    timeline_in_use: ({ part }) => ({ tracks: part === "events" ? [0, 2] : [], counters: [] }),
  });
  const page = pageOf();
  let known = 0;
  const stop = followIdle(page, () => known++);
  await settle();
  expect(idleOf(page)).toEqual(["d0@h0", "e1@h0"]);
  expect(known).toBe(1);
  const [, asked] = server.asked[0];
  expect([asked.from_ps, asked.to_ps]).toEqual(["0", "10000000000"]);
  stop();
});

test("the selected event keeps its track, and what is on the screen its place", async () => {
  const server = fakeServer({ timeline_in_use: () => ({ tracks: [0, 1, 2], counters: [] }) });
  const page = pageOf();
  const { model } = page;
  const stop = followIdle(page, () => {});
  await settle();
  goTo(
    model,
    { host: 0, part: "events", id: 1 },
    { row: 4, startPs: 1e9, durationPs: 1e9, name: "m" },
  );
  const place = () => model.lanes.value.byKey.get("e2@h0")!.top - model.scrollTop.value;
  expect(model.scrollTop.value).toBeGreaterThan(0);
  const before = place();
  server.routes.timeline_in_use = () => ({ tracks: [], counters: [] });
  model.view.value = { from: 3e10, to: 4e10 };
  await vi.waitFor(() => expect(idleOf(page)).toEqual(["d0@h0", "e0@h0", "e1@h0"]), 60_000);
  expect(Math.max(place() - before, 0)).toBe(0);
  expect(place()).toBeGreaterThanOrEqual(0);
  stop();
});

test("an event that is gone to has a lane, whatever the view showed before", async () => {
  fakeServer({ timeline_in_use: () => ({ tracks: [], counters: [] }) });
  const page = pageOf();
  const { model } = page;
  const stop = followIdle(page, () => {});
  await settle();
  expect(model.lanes.value.byKey.has("e2@h0")).toBe(false);
  goTo(
    model,
    { host: 0, part: "events", id: 1 },
    { row: 4, startPs: 1e9, durationPs: 1e9, name: "m" },
  );
  expect(model.lanes.value.byKey.has("e2@h0")).toBe(true);
  stop();
});

test("where the server does not say, all tracks are shown", async () => {
  fakeServer({
    timeline_in_use: () => {
      throw new Refusal(500, "internal", "no");
    },
  });
  const page = pageOf();
  let known = 0;
  const stop = followIdle(page, () => known++);
  await settle();
  expect([idleOf(page), known]).toEqual([[], 1]);
  stop();
});
