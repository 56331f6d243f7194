import { afterEach, expect, test, vi } from "vitest";
import { placeHosts } from "../model/place_hosts";
import { sampleTimeline, sampleTracks } from "../protocol/sample.test_helper";
import { fakeServer, found, settle } from "../protocol/server.test_helper";
import { followLaunchers } from "./follow_launchers";
import { createPage, initiallyFolded } from "./page";
import { addressOf } from "./page_address";

afterEach(() => vi.unstubAllGlobals());

/** GPUs with a stream each, then five threads: tracks `gpus` to `gpus` + 4. */
function pageOf(gpus: number) {
  const [stream, thread] = sampleTracks();
  const streams = Array.from({ length: gpus }, (_, index) => ({
    ...stream,
    id: index,
    section: index,
  }));
  const threads = Array.from({ length: 5 }, (_, index) => ({
    ...thread,
    id: gpus + index,
    section: gpus,
    name: `thread ${index}`,
    rows: index === 0 ? 9 : 1,
  }));
  const sections = streams.map(({ id }) => ({
    id,
    name: `/device:GPU:${id}`,
    label: `GPU ${id}`,
    kind: "device",
    tracks: [id],
    events: 1,
    busy_ps: 1,
  }));
  const host = {
    ...{ id: gpus, name: "/host:CPU", label: "Host threads", kind: "host", events: 1, busy_ps: 1 },
    tracks: threads.map(({ id }) => id),
  };
  const page = createPage("r");
  const events = sampleTimeline({
    sections: [...sections, host],
    tracks: [...streams, ...threads],
  });
  page.model.hosts.value = placeHosts([{ events, derived: null }]);
  const { arrangement, groups } = page.model;
  arrangement.value = { ...arrangement.value, collapsed: initiallyFolded(groups.value, []) };
  return page;
}

/** Launches of the streams and threads of `pageOf(8)`, by track. */
const LAUNCHES = { "0": 999, "8": 400, "9": 5, "10": 500, "12": 41 };

test("above eight GPUs the threads that launch most are pinned, deep ones as one row", async () => {
  fakeServer({
    timeline_search: ({ q }) => found([], q === "category:launch" ? LAUNCHES : {}),
  });
  const page = pageOf(8);
  const stop = followLaunchers(page);
  await settle();
  const { pinned, collapsed } = page.model.arrangement.value;
  expect(pinned).toEqual(["e10@h0", "e8@h0"]);
  expect([...collapsed]).toContain("e8@h0");
  expect(page.model.lanes.value.pinnedHeight).toBe(2 * 22);
  expect(addressOf(page)).toMatchObject({ pinned: null, folds: [] });
  stop();
});

test("pins of the user's own stay, and fewer GPUs need none", async () => {
  const server = fakeServer({ timeline_search: () => found([], LAUNCHES) });
  const page = pageOf(8);
  page.model.arrangement.value = { ...page.model.arrangement.value, pinned: ["e1@h0"] };
  const stop = followLaunchers(page);
  await settle();
  expect(page.model.arrangement.value.pinned).toEqual(["e1@h0"]);
  expect(addressOf(page).pinned).toEqual(["e1@h0"]);
  stop();
  server.asked.length = 0;
  const few = pageOf(2);
  const stopFew = followLaunchers(few);
  await settle();
  expect(few.model.arrangement.value.pinned).toEqual([]);
  expect(server.asked).toEqual([]);
  stopFew();
});
