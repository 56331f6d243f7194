import { afterEach, expect, test, vi } from "vitest";
import { ApiError } from "../../../api/errors";
import { fetchEvent, fetchSearch, fetchTiles, formatRanges, isStale } from "./api";
import { NO_FILTER } from "./questions";

const OF = { run: "r 1", host: "h0", part: "events", version: "v" } as const;
const signal = new AbortController().signal;

afterEach(() => vi.unstubAllGlobals());

function answer(status: number, body: unknown) {
  const fetched = vi.fn(async (_: string) => new Response(JSON.stringify(body), { status }));
  vi.stubGlobal("fetch", fetched);
  return () => new URL(fetched.mock.calls[0][0], "http://x/");
}

test("rows are written as ranges", () => {
  expect(formatRanges([0, 1, 2, 7, 9, 10])).toBe("0-2,7,9-10");
  expect(formatRanges([])).toBe("");
});

test("a search names what is searched, where and how", async () => {
  const asked = answer(200, { count: 0, hits: [] });
  const search = { text: "arg:a=b & c", isRegex: true, isCase: false };
  await fetchSearch(OF, search, { limit: 5, span: { fromPs: 1.5, toPs: 2.5 } }, signal);
  expect(asked().pathname).toBe("/timeline_search");
  expect(Object.fromEntries(asked().searchParams)).toEqual({
    ...OF,
    q: "arg:a=b & c",
    regex: "1",
    limit: "5",
    from_ps: "1",
    to_ps: "3",
  });
});

test("tiles name the filter only where there is one", async () => {
  const tiles = { level: 3, from: 0, to: 2 };
  const bare = answer(200, {});
  await fetchTiles(OF, tiles, [4, 5], NO_FILTER, signal);
  expect(Object.fromEntries(bare().searchParams)).toMatchObject({ level: "3", rows: "4-5" });
  expect(bare().searchParams.has("name")).toBe(false);
  const asked = answer(200, {});
  const filter = { ...NO_FILTER, name: "mat", isCase: true, categories: ["A", "B"], minPs: 1.2 };
  await fetchTiles(OF, tiles, [4], filter, signal);
  expect(Object.fromEntries(asked().searchParams)).toMatchObject({
    name: "mat",
    case: "1",
    category: "A,B",
    min_ps: "2",
  });
});

test("a changed file is distinguished from other errors", async () => {
  answer(409, { error: { code: "stale", message: "m", hint: "" } });
  const error = await fetchEvent(OF, 1, null, signal).catch((caught: unknown) => caught);
  expect(isStale(error)).toBe(true);
  expect(isStale(new ApiError("internal", "", "", 500))).toBe(false);
});

test("a move that leads nowhere is not an error", async () => {
  answer(200, null);
  expect(await fetchEvent(OF, 1, "next", signal)).toBeNull();
});
