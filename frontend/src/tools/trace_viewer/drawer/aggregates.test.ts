import { expect, test, vi } from "vitest";
import { placeHosts } from "../model/place_hosts";
import { createPage } from "../page/page";
import { sampleDerived, sampleTimeline, sampleTracks } from "../protocol/sample.test_helper";
import { fakeServer } from "../protocol/server.test_helper";
import {
  type AggregateSums,
  aggregate,
  chooseTracks,
  countTracks,
  mergeSums,
  trackSets,
} from "./aggregates";

function sums(
  rows: Readonly<Record<string, readonly [count: number, total: number, self: number]>>,
): AggregateSums {
  const all = Object.values(rows);
  const column = (at: number) => Float64Array.from(all, (row) => row[at]);
  return {
    events: 3,
    busyPs: 10,
    idlePs: 5,
    key: Object.keys(rows),
    category: Object.keys(rows).map(() => "Kernel"),
    track: [],
    lanes: [],
    count: column(0),
    totalPs: column(1),
    selfPs: column(2),
    meanPs: Float64Array.from(all, ([count, total]) => total / count),
    minPs: column(2),
    maxPs: column(1),
    share: Float64Array.from(all, () => 0.5),
  };
}

test("rows of one key are one, and shares are of the whole", () => {
  const merged = mergeSums([
    sums({ a: [1, 10, 4], b: [2, 30, 30] }),
    sums({ a: [3, 30, 26], c: [1, 20, 20] }),
  ]);
  expect(merged.key).toEqual(["a", "b", "c"]);
  expect([...merged.selfPs]).toEqual([30, 30, 20]);
  expect([...merged.count]).toEqual([4, 2, 1]);
  expect(merged.meanPs[0]).toBe(10);
  expect([merged.minPs[0], merged.maxPs[0]]).toEqual([4, 30]);
  expect([...merged.share]).toEqual([30 / 80, 30 / 80, 20 / 80]);
  expect([merged.events, merged.busyPs, merged.idlePs]).toEqual([6, 20, 10]);
});

test("names of two categories stay two rows", () => {
  const one = sums({ a: [1, 1, 1] });
  expect(mergeSums([one, { ...one, category: ["Other"] }]).key).toEqual(["a", "a"]);
});

test("tracks stay apart by the keys of their lanes", () => {
  const one = { ...sums({ "Stream 1": [1, 1, 1] }), track: [0], lanes: ["e0@h0"] };
  const merged = mergeSums([one, { ...one, lanes: ["e0@h1"] }]);
  expect(merged.lanes).toEqual(["e0@h0", "e0@h1"]);
});

test("what repeats other tracks is left out, and counted", () => {
  const page = createPage("r");
  const { model } = page;
  model.hosts.value = placeHosts([{ events: sampleTimeline(), derived: sampleDerived() }]);
  const counts = (keys: string[] | null) => {
    const { sets, excluded } = chooseTracks(page, keys);
    return [countTracks(sets), excluded];
  };
  expect(counts(null)).toEqual([3, 1]);
  expect(counts(["d0@h0", "e0@h0"])).toEqual([1, 1]);
  expect(counts(["d0@h0"])).toEqual([1, 0]);
  expect(counts(["e1@h0"])).toEqual([1, 0]);
});

test("a box has its own tracks, a ruler all that the file holds and that are shown", () => {
  const page = createPage("r");
  const { model } = page;
  model.hosts.value = placeHosts([{ events: sampleTimeline(), derived: sampleDerived() }]);
  model.arrangement.value = { ...model.arrangement.value, hidden: new Set(["e2@h0"]) };
  const of = (keys: readonly string[] | null) =>
    trackSets(page, keys).map(({ part, tracks }) => [part, tracks]);
  expect(of(["e1@h0"])).toEqual([["events", [1]]]);
  expect(of(["d0@h0"])).toEqual([["derived", [0]]]);
  expect(of(null)).toEqual([["events", [0, 1]]]);
});

test("what stands for work is not added to it", async () => {
  const asked: string[] = [];
  fakeServer({
    timeline_aggregate: ({ part, tracks }) => {
      asked.push(`${part} ${tracks}`);
      return { events: 1, busy_ps: 30, idle_ps: 70, rows: {} };
    },
  });
  const page = createPage("r");
  const steps = sampleTracks();
  const events = sampleTimeline({
    tracks: steps.map((track) => (track.id === 0 ? { ...track, kind: "steps" } : track)),
  });
  page.model.hosts.value = placeHosts([{ events, derived: sampleDerived() }]);
  const add = (keys: readonly string[]) => {
    const { signal } = new AbortController();
    return aggregate(page, { from: 0, to: 100 }, trackSets(page, keys), "name", signal);
  };
  // Steps of the file and those worked out stand for what the thread does.
  expect(await add(["e0@h0", "e1@h0", "d0@h0"])).toMatchObject({ events: 1, busyPs: 30 });
  expect(asked.splice(0)).toEqual(["events 1"]);
  // Alone, they are what is asked for.
  expect(await add(["e0@h0", "d0@h0"])).toMatchObject({ events: 2 });
  expect(asked.sort()).toEqual(["derived 0", "events 0"]);
  vi.unstubAllGlobals();
});
