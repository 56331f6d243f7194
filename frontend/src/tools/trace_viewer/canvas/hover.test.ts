import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createModel, type TimelineModel } from "../model/model";
import { placeHosts } from "../model/place_hosts";
import type { ViewApi } from "../model/types";
import { sampleTimeline } from "../protocol/sample.test_helper";
import { HoverFollower } from "./hover";

const exact = { row: 2, startPs: 101, durationPs: 7, name: "op" };
const rough = {
  host: 0,
  part: "events" as const,
  id: 5,
  row: 2,
  startPs: 96,
  durationPs: 0,
  name: "op",
  category: 0,
  count: 1,
  roundingPs: 32,
  x: 10,
  y: 10,
};

let model: TimelineModel;
let follower: HoverFollower;
const place = vi.fn<ViewApi["place"]>(async (_, id) => ({ id, place: exact }));

beforeEach(() => {
  vi.useFakeTimers();
  place.mockClear();
  model = createModel({ place } as unknown as ViewApi);
  model.hosts.value = placeHosts([{ events: sampleTimeline(), derived: null }]);
  follower = new HoverFollower(model);
});
afterEach(() => vi.useRealTimers());

test("the event itself is asked for once the pointer rests on it", async () => {
  follower.follow(rough);
  expect(model.hover.peek()).toEqual({ ...rough, event: null });
  await vi.advanceTimersByTimeAsync(50);
  follower.follow({ ...rough, x: 12 });
  await vi.advanceTimersByTimeAsync(200);
  expect(place).toHaveBeenCalledTimes(1);
  expect(model.hover.peek()).toEqual({ ...rough, x: 12, event: exact });
  // It stays known while the pointer moves within the event.
  follower.follow({ ...rough, x: 14 });
  expect(model.hover.peek()?.event).toEqual(exact);
});

test("a pointer that passes asks nothing", async () => {
  for (let id = 0; id < 20; id++) {
    follower.follow({ ...rough, id });
    await vi.advanceTimersByTimeAsync(20);
  }
  follower.follow(null);
  await vi.advanceTimersByTimeAsync(500);
  expect(place).not.toHaveBeenCalled();
  expect(model.hover.peek()).toBeNull();
});

test("what the picture has exactly is not asked for; of buckets the longest is", async () => {
  follower.follow({ ...rough, roundingPs: 0 });
  await vi.advanceTimersByTimeAsync(200);
  expect(place).not.toHaveBeenCalled();
  follower.follow({ ...rough, roundingPs: 0, count: 2 });
  await vi.advanceTimersByTimeAsync(200);
  expect(place).toHaveBeenCalledTimes(1);
});

test("the same place twice is one change", () => {
  follower.follow(rough);
  const before = model.hover.peek();
  follower.follow({ ...rough });
  expect(model.hover.peek()).toBe(before);
});
