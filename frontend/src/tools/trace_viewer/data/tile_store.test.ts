import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../../../api/errors";
import { type EventFilter, NO_FILTER, type TileQuery } from "../protocol/questions";
import { encodeTiles, inOrder } from "../protocol/tiles.test_helper";
import { randomEvents, spanOf, stage } from "../scene/scene.test_helper";
import type { Want } from "./tile_plan";
import { TileStore } from "./tile_store";

interface PendingTiles {
  readonly query: TileQuery;
  readonly rows: readonly number[];
  readonly filter: EventFilter;
  readonly signal: AbortSignal;
  readonly answer: () => void;
  readonly fail: (error: unknown) => void;
}

const events = inOrder(randomEvents(4000, 6, 3));
const { to: END } = spanOf(events);
const { source } = stage(events, END);

let asked: PendingTiles[] = [];
let seen: string[] = [];

function makeStore(): TileStore {
  const fetchTiles = (
    query: TileQuery,
    rows: readonly number[],
    filter: EventFilter,
    signal: AbortSignal,
  ) =>
    new Promise<ArrayBuffer>((resolve, reject) => {
      const { level, from, to } = query;
      const answer = () => resolve(encodeTiles(events, { level, from, to, rows }));
      asked.push({ query, rows, filter, signal, answer, fail: reject });
    });
  return new TileStore(
    fetchTiles,
    {
      arrived: () => seen.push("arrived"),
      failed: (error) => seen.push(error === null ? "well again" : "failed"),
      stale: () => seen.push("stale"),
    },
    () => Date.now(),
  );
}

const want = (level: number, from: number, to: number, rows: readonly number[] = [0, 1]): Want => ({
  source,
  level,
  from,
  to,
  rows,
  near: () => [],
});
const live = () => asked.filter(({ signal }) => !signal.aborted);
const tiles = ({ query, rows }: PendingTiles) =>
  `${query.level}: ${query.from}-${query.to} x ${rows}`;
const settle = () => vi.advanceTimersByTimeAsync(0);

async function answerAll(): Promise<void> {
  for (let index = 0; index < asked.length; index++) {
    asked[index].answer();
    await settle();
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  seen = [];
});
afterEach(() => vi.useRealTimers());

test("a view asks for a coarse picture and for its own, each in one request", async () => {
  const store = makeStore();
  expect(store.want([want(0, 8, 12)], NO_FILTER)).toBe(true);
  expect(asked.map(tiles)).toEqual(["3: 1-2 x 0,1", "0: 8-12 x 0,1"]);
  asked[1].answer();
  await settle();
  expect(seen).toEqual(["arrived"]);
  expect(store.find(source, 0, 9, 1)).toBeDefined();
  expect(store.want([want(0, 8, 12)], NO_FILTER)).toBe(false);
});

test("what is there or on its way is not asked for again", async () => {
  const store = makeStore();
  store.want([want(0, 8, 12)], NO_FILTER);
  await answerAll();
  asked = [];
  await vi.advanceTimersByTimeAsync(100);
  store.want([want(0, 9, 13, [0, 1, 2])], NO_FILTER);
  expect(asked.map(tiles)).toEqual(["3: 1-2 x 2", "0: 12-13 x 0,1", "0: 9-13 x 2"]);
  store.want([want(0, 9, 13, [0, 1, 2])], NO_FILTER);
  expect(asked).toHaveLength(3);
});

test("a moving view asks at a measured pace, and only for where it is", async () => {
  const store = makeStore();
  for (let step = 0; step < 60; step++) {
    store.want([want(0, step, step + 3)], NO_FILTER);
    await vi.advanceTimersByTimeAsync(16);
  }
  await vi.advanceTimersByTimeAsync(100);
  expect(asked.length).toBeLessThan(45);
  for (const { query } of live()) {
    const scale = 2 ** query.level;
    expect(query.from * scale).toBeLessThan(62);
    expect(query.to * scale).toBeGreaterThan(59);
  }
  expect(live().length).toBeLessThanOrEqual(4);
});

test("a request that the view has left is given up", async () => {
  const store = makeStore();
  store.want([want(0, 0, 2)], NO_FILTER);
  const [, fine] = asked;
  await vi.advanceTimersByTimeAsync(100);
  store.want([want(0, 60, 62)], NO_FILTER);
  expect(fine.signal.aborted).toBe(true);
  // Its answer, late, changes nothing.
  fine.answer();
  await settle();
  expect(seen).toEqual([]);
});

test("a resting view looks around, one request at a time, until it moves", async () => {
  const store = makeStore();
  store.want([{ ...want(0, 8, 12), near: () => [2, 3] }], NO_FILTER);
  await answerAll();
  asked = [];
  await vi.advanceTimersByTimeAsync(400);
  expect(live()).toHaveLength(1);
  for (let index = 0; index < 5; index++) {
    asked.at(-1)!.answer();
    await settle();
  }
  expect(asked.map(tiles)).toEqual([
    "3: 0-3 x 0,1",
    "3: 1-2 x 2,3",
    "0: 12-14 x 0,1",
    "0: 6-8 x 0,1",
    "0: 8-12 x 2,3",
  ]);
});

test("another filter is another picture; the old one stays until it is there", async () => {
  const store = makeStore();
  store.want([want(0, 8, 12)], NO_FILTER);
  await answerAll();
  asked = [];
  await vi.advanceTimersByTimeAsync(100);
  const filter = { ...NO_FILTER, name: "op" };
  expect(store.want([want(0, 8, 12)], filter)).toBe(true);
  expect(asked.map(({ filter: of }) => of.name)).toEqual(["op", "op"]);
  expect(store.find(source, 0, 9, 1)).toBeUndefined();
  expect(store.hasOld).toBe(true);
  expect(store.find(source, 0, 9, 1, true)).toBeDefined();
  await answerAll();
  expect(store.want([want(0, 8, 12)], filter)).toBe(false);
  expect(store.hasOld).toBe(false);
  // And back, without a request.
  asked = [];
  await vi.advanceTimersByTimeAsync(100);
  expect(store.want([want(0, 8, 12)], NO_FILTER)).toBe(false);
  expect(asked).toEqual([]);
});

test("a failure is reported, and retried at growing intervals", async () => {
  const store = makeStore();
  store.want([want(4, 0, 1)], NO_FILTER);
  const fail = async () => {
    for (const request of live()) request.fail(new ApiError("network", "no answer", "", 0));
    asked = [];
    await settle();
  };
  await fail();
  expect(seen).toContain("failed");
  expect(asked).toEqual([]);
  // Moving on does not press the server.
  store.want([want(4, 1, 2)], NO_FILTER);
  expect(asked).toEqual([]);
  await vi.advanceTimersByTimeAsync(4100);
  expect(asked.length).toBeGreaterThan(0);
  await answerAll();
  expect(seen).toContain("well again");
});

test("a filter that the server refuses is not asked for again, and the former picture stays", async () => {
  const store = makeStore();
  store.want([want(0, 8, 12)], NO_FILTER);
  await answerAll();
  asked = [];
  seen = [];
  const bad: EventFilter = { ...NO_FILTER, name: "(", isRegex: true };
  expect(store.want([want(0, 8, 12)], bad)).toBe(true);
  await vi.advanceTimersByTimeAsync(100);
  for (const request of live()) request.fail(new ApiError("bad_request", "missing )", "", 400));
  await settle();
  expect(seen).toContain("failed");
  asked = [];
  expect(store.want([want(0, 8, 12)], bad)).toBe(false);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(asked).toEqual([]);
  expect(store.find(source, 0, 8, 0, true)).toBeDefined();
  // The next filter is asked for at once, and what was wrong is over.
  expect(store.want([want(0, 8, 12)], { ...bad, name: "a" })).toBe(true);
  expect(seen.at(-1)).toBe("well again");
  expect(store.find(source, 0, 8, 0, true)).toBeDefined();
  await vi.advanceTimersByTimeAsync(100);
  expect(asked.length).toBeGreaterThan(0);
});

test("a changed file is reported once and not requested again", async () => {
  const store = makeStore();
  store.want([want(0, 8, 12)], NO_FILTER);
  for (const request of asked) request.fail(new ApiError("stale", "changed", "", 409));
  await settle();
  expect(seen).toEqual(["stale"]);
  asked = [];
  store.want([want(0, 20, 22)], NO_FILTER);
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked).toEqual([]);
});

test("an answer that is not tiles is an error, not an end", async () => {
  const fetchTiles = vi.fn(async () => new ArrayBuffer(3));
  const failed = vi.fn();
  const store = new TileStore(fetchTiles, { arrived: () => {}, failed, stale: () => {} }, Date.now);
  store.want([want(0, 8, 12)], NO_FILTER);
  await settle();
  expect(failed.mock.calls[0][0]).toMatchObject({ name: "PayloadError" });
  store.dispose();
});

test("nothing is asked for after the end", async () => {
  const store = makeStore();
  store.want([want(0, 8, 12)], NO_FILTER);
  store.dispose();
  expect(live()).toEqual([]);
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked).toHaveLength(2);
});
