import { afterEach, expect, test, vi } from "vitest";
import { placeHosts } from "../model/place_hosts";
import { createPage, listHitsInView, type Page } from "../page/page";
import { sampleDerived, sampleTimeline } from "../protocol/sample.test_helper";
import { fakeServer, Refusal, settle } from "../protocol/server.test_helper";
import { takeInOrder } from "./hit_sources";
import { createSearchResults } from "./search_results";

afterEach(() => vi.unstubAllGlobals());

const SEARCH = { text: "mat", isRegex: false, isCase: false };

function pageOf(hosts: readonly string[], withDerived = false): Page {
  const page = createPage("r");
  page.model.hosts.value = placeHosts(
    hosts.map((host) => ({
      events: sampleTimeline({ host }),
      derived: withDerived ? sampleDerived({ host }) : null,
    })),
  );
  page.model.view.value = { from: 0, to: 1e11 };
  return page;
}

/** Events every ms, of which a page has `size`; by the cursor, which is a place in the list. */
function serve(size: number, total: Readonly<Record<string, number>>) {
  return ({ host, part, after, limit, from_ps, to_ps }: Readonly<Record<string, string>>) => {
    const all = Array.from({ length: total[`${host} ${part}`] ?? 0 }, (_, index) => ({
      id: index,
      name: "matmul",
      track: 0,
      row: 0,
      start_ps: index * 1e9 + (host === "h1" ? 1e6 : 0),
      duration_ps: 1e6,
    }));
    const kept = all.filter(
      (hit) =>
        hit.start_ps + hit.duration_ps > Number(from_ps ?? -1) &&
        hit.start_ps < Number(to_ps ?? 1e15),
    );
    const first = Number(after ?? 0);
    const last = first + Math.min(size, Number(limit));
    return {
      count: kept.length,
      types: 1,
      hits: kept.slice(first, last),
      cursor: limit !== "0" && last < kept.length ? String(last) : "",
      tracks: {},
    };
  };
}

test("hits of hosts and parts are one list in time order, page by page", async () => {
  const total = { "h0 events": 5, "h1 events": 3, "h0 derived": 1 };
  fakeServer({ timeline_search: serve(2, total) });
  const page = pageOf(["h0", "h1"], true);
  const hits = createSearchResults(page);
  page.model.search.value = SEARCH;
  await settle();
  expect(hits.state.value.count).toBe(9);
  const seen = () => hits.state.value.hits.map((hit) => [hit.host, hit.part[0], hit.from / 1e6]);
  // What follows the last of a page may be the next of its source.
  expect(seen()).toEqual([
    [0, "e", 0],
    [0, "d", 0],
    [1, "e", 1],
    [0, "e", 1000],
  ]);
  for (let index = 0; index < 4; index++) {
    hits.more();
    await settle();
  }
  expect(seen()).toHaveLength(9);
  expect(seen().map((hit) => hit[2])).toEqual([0, 0, 1, 1000, 1001, 2000, 2001, 3000, 4000]);
  expect(hits.state.value.hasMore).toBe(false);
  hits.dispose();
});

test("hits in view are counted", async () => {
  fakeServer({ timeline_search: serve(200, { "h0 events": 50 }) });
  const page = pageOf(["h0"]);
  const hits = createSearchResults(page);
  page.model.search.value = SEARCH;
  page.model.view.value = { from: 9.5e9, to: 12.5e9 };
  await settle();
  expect(hits.inView.value).toBe(3);
  // Of the next search nothing is known yet.
  page.model.search.value = { ...SEARCH, text: "add" };
  expect([hits.state.value.count, hits.inView.value]).toEqual([0, null]);
  hits.dispose();
});

test("hits are listed of a part of the trace, until something else is searched for", async () => {
  fakeServer({ timeline_search: serve(2, { "h0 events": 50 }) });
  const page = pageOf(["h0"]);
  const hits = createSearchResults(page);
  page.model.search.value = SEARCH;
  page.model.view.value = { from: 9.5e9, to: 12.5e9 };
  listHitsInView(page);
  page.model.view.value = { from: 0, to: 20e9 };
  await settle();
  const { count, listed, hits: first } = hits.state.value;
  expect([count, listed, first.map((hit) => hit.id)]).toEqual([50, 3, [10, 11]]);
  hits.more();
  await settle();
  expect(hits.state.value).toMatchObject({ count: 50, listed: 3, hasMore: false });
  expect(hits.state.value.hits.map((hit) => hit.id)).toEqual([10, 11, 12]);
  await vi.waitFor(() => expect(hits.inView.value).toBe(20), 60_000);
  page.model.search.value = { ...SEARCH, text: "m" };
  await settle();
  expect(hits.state.value).toMatchObject({ span: null, count: 50, listed: 50 });
  hits.dispose();
});

test("the hits in view of each host and part that has any, where they take most time first", async () => {
  const total = { "h0 events": 30, "h1 events": 3, "h0 derived": 9 };
  fakeServer({ timeline_search: serve(2, total) });
  const page = pageOf(["h0", "h1"], true);
  const hits = createSearchResults(page);
  expect(await hits.mainInView()).toEqual([]);
  page.model.search.value = SEARCH;
  page.model.view.value = { from: 5.5e9, to: 20e9 };
  await settle();
  const mains = await hits.mainInView();
  expect(mains.map(({ host, part, startPs }) => [host, part, startPs])).toEqual([
    [0, "events", 6e9],
    [0, "derived", 6e9],
  ]);
  hits.dispose();
});

test("the hit after the selected one, and the one before, however far apart they are", async () => {
  fakeServer({ timeline_search: serve(3, { "h0 events": 100, "h1 events": 100 }) });
  const page = pageOf(["h0", "h1"]);
  const hits = createSearchResults(page);
  page.model.search.value = SEARCH;
  page.model.view.value = { from: 40.5e9, to: 41e9 };
  await settle();
  const next = await hits.near(1);
  expect([next?.host, next?.id]).toEqual([0, 41]);
  const before = await hits.near(-1);
  expect([before?.host, before?.id]).toEqual([1, 40]);
  const place = { row: 0, startPs: 41e9, durationPs: 1e6, name: "matmul" };
  page.model.selection.value = { host: 0, part: "events", id: 41, place };
  const second = await hits.near(1);
  expect([second?.host, second?.id]).toEqual([1, 41]);
  hits.dispose();
});

test("at the ends there is no further hit", async () => {
  fakeServer({ timeline_search: serve(200, { "h0 events": 1 }) });
  const page = pageOf(["h0"]);
  const hits = createSearchResults(page);
  page.model.search.value = SEARCH;
  const place = { row: 0, startPs: 0, durationPs: 1e6, name: "matmul" };
  page.model.selection.value = { host: 0, part: "events", id: 0, place };
  await settle();
  expect(await hits.near(1)).toBeNull();
  expect(await hits.near(-1)).toBeNull();
  hits.dispose();
});

test("a query that the server refuses is said, and the next one heals it", async () => {
  const server = fakeServer({
    timeline_search: () => {
      throw new Refusal(400, "bad_request", "nothing to repeat");
    },
  });
  const page = pageOf(["h0"]);
  const hits = createSearchResults(page);
  page.model.search.value = { ...SEARCH, isRegex: true };
  await settle();
  expect(hits.state.value.error).toMatchObject({ message: "nothing to repeat" });
  server.routes.timeline_search = serve(200, { "h0 events": 1 });
  page.model.search.value = SEARCH;
  await settle();
  expect(hits.state.value).toMatchObject({ error: null, count: 1 });
  hits.dispose();
});

test("a file that has changed is loaded again", async () => {
  fakeServer({
    timeline_search: () => {
      throw new Refusal(409, "stale", "the file has changed");
    },
  });
  const page = pageOf(["h0"]);
  const hits = createSearchResults(page);
  page.model.search.value = SEARCH;
  await settle();
  expect(page.model.stale.value).toBe(1);
  hits.dispose();
});

test("without sources there are no hits", () => {
  expect(takeInOrder([])).toEqual([]);
});
