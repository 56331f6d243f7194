import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { stage } from "../scene/scene.test_helper";
import type { Want } from "./tile_plan";
import { WindowStore } from "./window_store";

const { source } = stage([{ row: 0, start: 0, duration: 5, type: 1 }], 512 * 1024);
const want = (level: number, from: number, to: number, rows = [1, 2]): Want => ({
  source,
  level,
  from,
  to,
  rows,
  near: () => [],
});

interface PendingWindows {
  text: string;
  answer: (ids?: readonly number[]) => void;
  fail: (error: Error) => void;
  signal: AbortSignal;
}
let asked: PendingWindows[] = [];

function makeStore() {
  const arrived = vi.fn();
  const failed = vi.fn();
  const store = new WindowStore<string>(
    (_, level, from, to, ids, signal) =>
      new Promise((resolve, fail) => {
        const text = `${level}: ${from}-${to} x ${ids}`;
        const answer = (known = ids) => resolve(new Map(known.map((id) => [id, `${text} #${id}`])));
        asked.push({ text, answer, fail, signal });
      }),
    { arrived, failed, stale: () => {} },
    () => Date.now(),
  );
  return { store, arrived, failed };
}

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
});
afterEach(() => vi.useRealTimers());

test("windows are fetched coarse first, and each part is returned once", async () => {
  const { store, arrived } = makeStore();
  expect(store.want([want(1, 2, 4)])).toBe(true);
  expect(asked.map(({ text }) => text)).toEqual(["4: 0-4 x 1,2"]);
  asked[0].answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(arrived).toHaveBeenCalled();
  // Tiles are a quarter of a window.
  expect(asked.map(({ text }) => text)).toEqual(["4: 0-4 x 1,2", "1: 8-16 x 1,2"]);
  const window = 2048 * 2;
  expect(store.parts(source, 1, { from: 2, to: 4 }, 1)).toEqual([
    { level: 4, from: 0, to: 1, data: "4: 0-4 x 1,2 #1", lowPs: 2 * window, highPs: 4 * window },
  ]);
  asked[1].answer();
  await vi.advanceTimersByTimeAsync(0);
  const [part] = store.parts(source, 1, { from: 2, to: 4 }, 1);
  expect(part.data).toBe("1: 8-16 x 1,2 #1");
  expect(store.want([want(1, 2, 4)])).toBe(false);
});

test("what does not come is known to be nothing", async () => {
  const { store } = makeStore();
  store.want([want(1, 0, 1, [7])]);
  for (let index = 0; index < 2; index++) {
    asked[index].answer([]);
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(store.want([want(1, 0, 1, [7])])).toBe(false);
  expect(store.parts(source, 1, { from: 0, to: 1 }, 7)[0].data).toBeNull();
});

test("a failed request is sent again, and its error ends with the answer", async () => {
  const { store, failed } = makeStore();
  const error = new Error("no connection");
  store.want([want(1, 0, 1)]);
  asked[0].fail(error);
  await vi.advanceTimersByTimeAsync(1900);
  expect(failed.mock.calls).toEqual([[error]]);
  expect(asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(200);
  for (const { answer } of asked.slice(1)) answer();
  await vi.advanceTimersByTimeAsync(0);
  for (const { answer } of asked.slice(2)) answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(failed.mock.calls).toEqual([[error], [null]]);
});

test("another question gives up the one before", async () => {
  const { store } = makeStore();
  store.want([want(1, 0, 1)], "a");
  await vi.advanceTimersByTimeAsync(200);
  store.want([want(1, 0, 1)], "b");
  expect(asked[0].signal.aborted).toBe(true);
  expect(asked).toHaveLength(2);
  store.dispose();
  expect(asked[1].signal.aborted).toBe(true);
});
