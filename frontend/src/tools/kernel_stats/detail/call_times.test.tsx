import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Ask } from "../../tool";
import { KernelCallTimes } from "./call_times";

const times = (calls: number, us: number) => ({
  calls,
  total_ps: us * calls * 1e6,
  median_ps: us * 1e6,
  percentile_95_ps: us * 1e6,
});
const answer = (calls: number) => ({
  durations: { ...times(calls, 20), deviation_ps: 0, min_ps: 20e6, max_ps: 20e6 },
  histogram: { is_logarithmic: false, edges_ps: [20e6, 20e6], calls: [calls] },
  idle: times(calls - 1, 5),
  pause: times(calls - 1, 0),
  latency: times(calls, 900),
  queue: times(calls, 300),
  unlinked: {},
  streams: ["#1", "#2"].map((stream) => ({ device: "GPU:0", stream, ...times(1, 20), idle_ps: 0 })),
});

const asked: unknown[] = [];

async function show(reply: () => unknown): Promise<void> {
  const ask: Ask = async (parameters, _, route) => {
    asked.push([route, parameters]);
    return reply();
  };
  act(() =>
    render(<KernelCallTimes run="r" ask={ask} of={{ kernel: "gemm", op: "" }} />, document.body),
  );
  await expect.poll(() => document.querySelector("table, .button")).not.toBeNull();
}

const cells = () =>
  [...document.querySelectorAll("tbody tr")].map((row) =>
    [...row.children].map((cell) => cell.textContent),
  );

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

beforeEach(() => {
  asked.length = 0;
  act(() => render(null, document.body));
});

test("launches are summed in one unit per column, with bars of their durations", async () => {
  await show(() => answer(3));
  expect(asked).toEqual([["kernel_calls", { kernel: "gemm", op: "" }]]);
  const titles = [...document.querySelectorAll("table:first-of-type thead th")];
  expect(titles.slice(0, 5).map((title) => title.textContent)).toEqual([
    "",
    "Median (µs)",
    "P95 (µs)",
    "Total (µs)",
    "Launches",
  ]);
  expect(cells().slice(0, 5)).toEqual([
    ["Duration", "20.0", "20.0", "60.0", "3"],
    ["GPU idle before", "5.00", "5.00", "10.0", "2"],
    ["Pause on its stream", "0", "0", "0", "2"],
    ["Launch latency", "900", "900", "", "3"],
    ["Queue time", "300", "300", "", "3"],
  ]);
  expect(cells().slice(5)).toEqual([
    ["GPU:0 #1", "1", "20.0", "0"],
    ["GPU:0 #2", "1", "20.0", "0"],
  ]);
  expect(document.querySelectorAll("rect")).toHaveLength(1);
});

test("one launch has its times, and no bars", async () => {
  await show(() => answer(1));
  expect(cells()[1]).toEqual(["GPU idle before", "5.00"]);
  expect(document.querySelector("rect")).toBeNull();
});

test("while the launches are read it says what the server does", async () => {
  vi.useFakeTimers();
  const text = "reading kernel calls of host0: part 2 of 2";
  const progress = { state: "working", text, done: 0, total: 1, share: 0.5 };
  const fetched = vi.fn(async (_: string) => new Response(JSON.stringify(progress)));
  vi.stubGlobal("fetch", fetched);
  const never: Ask = () => new Promise(() => {});
  act(() => render(<KernelCallTimes run="r" ask={never} of={{ kernel: "k" }} />, document.body));
  const said = () => document.querySelector("[role=status]")?.textContent;
  expect(said()).toBe("Reading the launches…");
  await act(async () => void (await vi.advanceTimersByTimeAsync(300)));
  expect(said()).toBe("Reading kernel calls of host0: part 2 of 2");
  act(() => render(null, document.body));
  const asked = fetched.mock.calls.length;
  await vi.advanceTimersByTimeAsync(2000);
  expect(fetched.mock.calls.length).toBe(asked);
});

test("a failed request can be repeated", async () => {
  let fails = true;
  await show(() => {
    if (fails) throw new Error("gone");
    return answer(3);
  });
  fails = false;
  act(() => document.querySelector<HTMLElement>(".button")?.click());
  await expect.poll(cells).toHaveLength(7);
});
