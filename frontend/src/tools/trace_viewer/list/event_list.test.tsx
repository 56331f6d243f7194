import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { press as pressOn } from "../../../widgets/dom.test_helper";
import { placeHosts } from "../model/place_hosts";
import { createPage, type Page } from "../page/page";
import { sampleTimeline, sampleTracks } from "../protocol/sample.test_helper";
import { fakeServer } from "../protocol/server.test_helper";
import { type DrawnEvent, encodeTiles } from "../protocol/tiles.test_helper";
import { createSearchResults, type SearchResults } from "../search/search_results";
import { EventList } from "./event_list";

const MS = 1e9;
/** By track, whose rows are 2 id and 2 id + 1. */
const EVENTS: readonly DrawnEvent[] = [
  { row: 0, start: 10 * MS, duration: 5 * MS, type: 0 },
  { row: 0, start: 40.123_456_789 * MS, duration: 1000, type: 3 },
  { row: 2, start: 20 * MS, duration: 5 * MS, type: 1 },
  { row: 3, start: 21 * MS, duration: 2 * MS, type: 2 },
];

let page: Page;
let hits: SearchResults;
/** Calls what lets the tiles come that were asked for last. */
let answer: () => void;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  fakeServer();
  page = createPage("r");
  Object.assign(page.model.api, {
    tiles: vi.fn(
      ({ level, from, to }, rows) =>
        new Promise((done) => {
          answer = () => done(encodeTiles(EVENTS, { level, from, to, rows }));
        }),
    ),
  });
  page.model.hosts.value = placeHosts([{ events: sampleTimeline(), derived: null }]);
  page.model.view.value = { from: 0, to: 100 * MS };
  hits = createSearchResults(page);
});

afterEach(() => {
  act(() => render(null, document.body));
  hits.dispose();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

async function wait(ms: number) {
  await act(async () => {
    await vi.advanceTimersByTimeAsync(ms);
  });
}

async function show() {
  act(() => render(<EventList page={page} hits={hits} />, document.body));
  await wait(200);
}

async function arrive() {
  answer();
  await wait(0);
}

const cells = () =>
  [...document.querySelectorAll(".trace-rows-body [role=row]")].map((row) =>
    [...row.querySelectorAll("[role=gridcell]")].map((cell) => cell.textContent),
  );
const note = () => document.querySelector(".trace-note")?.textContent;
const press = (key: string) => pressOn(document.body, key);
const ms = () => [page.model.view.peek().from / MS, page.model.view.peek().to / MS];

test("another track is empty until its own events are there", async () => {
  await show();
  await arrive();
  expect(cells().map(([, name, , depth]) => [name, depth])).toEqual([
    ["op 0", "1"],
    ["op 3", "1"],
  ]);
  act(() => {
    page.listed.value = "e1@h0";
  });
  expect(cells()).toEqual([]);
  expect(note()).toBe("Loading events");
  await wait(200);
  expect(cells()).toEqual([]);
  await arrive();
  expect(cells().map(([, name, , depth]) => [name, depth])).toEqual([
    ["op 1", "1"],
    ["op 2", "2"],
  ]);
});

test("times have the precision of the answer", async () => {
  // 100 ms across come in 16ths of 33.6 µs.
  await show();
  await arrive();
  expect(cells().map((row) => [row[0], row[2]])).toEqual([
    ["10 ms", "5.00 ms"],
    ["40.12 ms", "< 2.10 µs"],
  ]);
  page.model.view.value = { from: 40.123_456 * MS, to: 40.123_458 * MS };
  await wait(200);
  await arrive();
  expect(cells().map((row) => [row[0], row[2]])).toEqual([["40.123\u202f457 ms", "1.00 ns"]]);
});

test("what comes for the track before is not listed", async () => {
  await show();
  const late = answer;
  act(() => {
    page.listed.value = "e1@h0";
  });
  await wait(200);
  late();
  await wait(0);
  expect(cells()).toEqual([]);
  expect(page.model.drawn.peek().entries).toBe(0);
});

test("the keys of the timeline that mean something move what is listed", async () => {
  await show();
  press("w");
  expect(ms()).toEqual([37.5, 62.5]);
  press("d");
  expect(ms()).toEqual([62.5, 87.5]);
  press("a");
  press("s");
  expect(ms()).toEqual([0, 100]);
  const place = { row: 0, startPs: 10 * MS, durationPs: 5 * MS, name: "op 0" };
  page.model.selection.value = { host: 0, part: "events", id: 0, place };
  press("f");
  expect(ms()).toEqual([9.5, 15.5]);
  press("0");
  expect(ms()).toEqual([-1, 101]);
  press("/");
  expect(page.model.searchAsked.peek()).toBe(1);
  press("Escape");
  expect(page.model.selection.peek()).toBeNull();
  // Marks and tools are of the picture.
  press("m");
  press("4");
  expect([page.model.marks.peek(), page.model.tool.peek()]).toEqual([[], "select"]);
});

test("nobody chose a track: the first that has events in view, until one is chosen", async () => {
  page.model.view.value = { from: 19 * MS, to: 30 * MS };
  const tracks = sampleTracks();
  const timeline = sampleTimeline({
    tracks: tracks.map((track) =>
      track.id === 0 ? { ...track, begin_ps: 10 * MS, end_ps: 15 * MS } : track,
    ),
  });
  page.model.hosts.value = placeHosts([{ events: timeline, derived: null }]);
  await show();
  const title = () => document.querySelector(".picker-value")?.textContent;
  expect(title()).toBe("python · Host threads");
  press("0");
  await wait(200);
  expect(title()).toBe("python · Host threads");
});

test("tracks of folded hosts and sections can be listed, hidden ones cannot", async () => {
  const second = sampleTimeline({ host: "h1" });
  page.model.hosts.value = placeHosts([
    { events: sampleTimeline(), derived: null },
    { events: second, derived: null },
  ]);
  page.model.arrangement.value = {
    ...page.model.arrangement.peek(),
    collapsed: new Set(["h@h0", "h@h1"]),
    hidden: new Set(["e0@h0", "h@h1"]),
  };
  await show();
  expect(document.querySelector(".picker-value")?.textContent).toBe("python · Host threads · h0");
  page.listed.value = "e0@h1";
  await wait(200);
  expect(document.querySelector(".picker-value")?.textContent).toBe("python · Host threads · h0");
});
