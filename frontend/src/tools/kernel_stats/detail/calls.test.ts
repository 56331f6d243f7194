import { expect, test } from "vitest";
import { type KernelCalls, parseCalls, unlinkedReasons } from "./calls";
import { placeOf } from "./histogram";

const TIMES = { calls: 2, total_ps: 6e6, median_ps: 3e6, percentile_95_ps: 4e6 };
const NOTHING = { calls: 0, total_ps: null, median_ps: null, percentile_95_ps: null };
const ANSWER = {
  durations: { ...TIMES, deviation_ps: 1e6, min_ps: 2e6, max_ps: 4e6 },
  histogram: { is_logarithmic: false, edges_ps: [2e6, 3e6, 4e6], calls: [1, 1] },
  idle: TIMES,
  pause: TIMES,
  latency: NOTHING,
  queue: NOTHING,
  unlinked: { no_id: 0, no_launch: 2, early: 0, follows: 0 },
  streams: [
    { host: "h", device: "GPU:0", stream: "Stream #1", calls: 2, median_ps: 3e6, idle_ps: 6e6 },
  ],
};

test("times of the server are in µs here, and unknown ones are NaN", () => {
  const calls = parseCalls(ANSWER);
  expect(calls.duration).toEqual({ calls: 2, total: 6, median: 3, percentile95: 4 });
  expect(calls.latency).toEqual({
    calls: 0,
    total: Number.NaN,
    median: Number.NaN,
    percentile95: Number.NaN,
  });
  expect([...calls.histogram.edges]).toEqual([2, 3, 4]);
  expect(calls.streams[0]).toMatchObject({ stream: "Stream #1", median: 3, idle: 6 });
});

test("a launch latency that is not there has its reason", () => {
  const calls = parseCalls(ANSWER);
  const reasons = (unlinked: Partial<KernelCalls["unlinked"]>) =>
    unlinkedReasons({
      ...calls,
      unlinked: { noId: 0, noLaunch: 0, early: 0, follows: 0, ...unlinked },
    });
  expect(reasons({})).toEqual([]);
  expect(reasons({ noId: 2 })).toEqual([expect.stringContaining("no correlation ids")]);
  expect(reasons({ noLaunch: 2 })).toEqual([expect.stringContaining("not recorded")]);
  expect(reasons({ early: 1, follows: 1 })).toEqual([
    expect.stringMatching(/: 1 .*clocks/),
    expect.stringMatching(/: 1 .*graph/),
  ]);
});

test("a duration lies in its bin", () => {
  const bins = {
    isLogarithmic: true,
    edges: Float64Array.of(1, 2, 8),
    counts: Float64Array.of(1, 1),
  };
  expect([1, 1.5, 2, 5, 8].map((time) => placeOf(time, bins))).toEqual([0, 0.25, 0.5, 0.75, 1]);
  expect(placeOf(3, { ...bins, edges: Float64Array.of(3, 3) })).toBe(0.5);
});
