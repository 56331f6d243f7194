import { render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, expect, test, vi } from "vitest";
import type { View } from "../../base/url_state";
import { press, text } from "../../widgets/dom.test_helper";
import { eachAnew, noted, pageProps } from "../page.test_helper";
import type { Ask } from "../tool";
import { parsePod } from "./payload";
import { samplePod } from "./sample.test_helper";
import { PodPage } from "./view";

const EXACT = {
  step: 0,
  worker: [0, 1, 2],
  start_ms: [0, 0, 0],
  total_us: [100.5, 100.5, 100.5],
  event_us: { "1": [60, 60, 60], "3": [30.25, 30.25, 10.25], "6": [10.25, 10.25, 30.25] },
  bottleneck: [1, 1, 1],
  is_truncated: [false, false, false],
};

beforeEach(() => void vi.useFakeTimers());
eachAnew();

function show(view: View = {}, more: Record<string, unknown> = {}, ask?: Ask) {
  act(() =>
    render(
      <PodPage payload={parsePod(samplePod(more))} view={view} {...pageProps(EXACT, ask)} />,
      document.body,
    ),
  );
}

test("the slowest worker of the step, at once rounded, then exactly", async () => {
  show({ step: "0" });
  expect(text(".pod-worker h2")).toBe("Slowest worker TPU:0");
  expect(text(".pod-worker-time")).toBe("100 µs");
  expect(text(".pod-worker")).toContain("+20.0 µs vs median without collectives.");
  expect(document.querySelector(".pod-worker")?.getAttribute("aria-busy")).toBe("true");
  await act(async () => void (await vi.advanceTimersByTimeAsync(200)));
  expect(noted.asked).toEqual([{ step: "0" }]);
  expect(text(".pod-worker tfoot")).toContain("101"); // 100.5 µs
  expect(document.querySelector(".pod-worker")?.getAttribute("aria-busy")).toBe("false");
});

test("a server that does not answer leaves the rounded values and says so", async () => {
  show({ step: "0" }, {}, async () => {
    throw new Error("no answer");
  });
  await act(async () => void (await vi.advanceTimersByTimeAsync(200)));
  expect(text(".pod-worker")).toContain("Rounded to 0.1 %: no answer");
});

test("arrow keys step, and play goes on to the end", () => {
  show({ step: "1" });
  press(document, "ArrowLeft");
  press(document, "ArrowRight");
  expect(noted.selected).toEqual([{ step: "0" }, { step: "2" }]);
  noted.selected.length = 0;
  press(document, "p");
  act(() => void vi.advanceTimersByTime(700));
  expect(noted.selected).toEqual([{ step: "2" }]);
});

test("stragglers are chosen, and chosen again are not", () => {
  show({ step: "0" });
  const straggler = () => document.querySelector<HTMLElement>(".pod-stragglers li button");
  expect(straggler()?.textContent).toBe(
    "TPU:0w-1+20.0 µsInput · 19.0 % of a step · 95 % CI: 15.0 µs to 25.0 µs over 4 steps · the slowest in 2 of them",
  );
  act(() => straggler()?.click());
  expect(noted.selected).toEqual([{ worker: "2" }]);
  show({ step: "0", worker: "2" });
  expect(straggler()?.getAttribute("aria-pressed")).toBe("true");
  act(() => straggler()?.click());
  expect(noted.selected.at(-1)).toEqual({ worker: null });
});

test("where nobody waits the workers are compared, and it says why", () => {
  const compared = {
    worker: 2,
    device: null,
    reference: 0,
    reference_device: null,
    late_us: 1440,
    low_us: null,
    high_us: null,
    wait_us: 0,
    share: 0.07,
    event: 1,
    last_steps: 1,
    steps: 1,
  };
  show({}, { stragglers: [], compared, no_straggler: "uncoupled" });
  expect(text(".pod-stragglers p")).toBe(
    "TPU:0 · pod-w-1.eu took 1.44 ms longer per step (over 1 step) than TPU:0 · pod-w-0.eu. Nothing in the trace shows that others wait for it.",
  );
  const varies = { ...compared, low_us: -100, high_us: 2980, steps: 9 };
  show({}, { stragglers: [], compared: varies, no_straggler: "varies" });
  expect(text(".pod-stragglers p")).toContain("(95 % CI: −100 µs to 2.98 ms over 9 steps)");
  show({}, { stragglers: [], compared: null, no_straggler: "unnamed" });
  expect(text(".pod-stragglers p")).toContain("does not identify them");
});

test("a device that the CPU plays is called by its number", () => {
  const device = {
    worker: 0,
    device: 2,
    reference: 0,
    reference_device: 1,
    late_us: 10,
    low_us: 9,
    high_us: 11,
    wait_us: 10,
    share: 0.1,
    event: null,
    last_steps: 4,
    steps: 4,
  };
  show({}, { stragglers: [device] });
  expect(text(".pod-stragglers li button")).toContain("CPU device 2");
});

test("a worker without the step says so", () => {
  show({ step: "0", worker: "3" });
  expect(text(".pod-worker")).toContain("This step was not recorded on this worker");
});

test("the heat map goes by keys, and tells where it is", () => {
  show({ step: "0", worker: "0" });
  const map = document.querySelector('[aria-roledescription="heat map"]');
  press(map, "ArrowDown");
  press(map, "ArrowRight");
  expect(text(".pod-heat [role=status]")).toBe("TPU:1 · pod-w-0.eu, step train 4: 77.0 µs");
  press(map, "Enter");
  expect(noted.selected).toEqual([{ step: "1", worker: "1" }]);
});

test("outliers are marked, and said of the step that is pointed at", () => {
  const steps = { ...(samplePod().steps as object), outlier_cause: ["", "compiles", ""] };
  show({ step: "0" }, { steps });
  expect(text(".pod-axis-title")).toContain("▲ 1 outlier");
  show({ step: "0" });
  expect(text(".pod-axis-title")).not.toContain("outlier");
});

test("a truncated step is flagged; the address is not trusted", () => {
  show({ step: "2", worker: "x", by: "?" });
  expect(text(".pod-steps .tag")).toBe("not fully recorded");
  show({ step: "99" });
  expect(text(".pod-steps .picker-value")).toBe("train 4");
});

test("without steps: the reason and the way out", () => {
  const none = { number: [], label: [], start_ms: [], is_truncated: [] };
  const empty = { steps: none, total: [], share_permille: {}, stragglers: [] };
  show(
    {},
    {
      ...empty,
      step_note: "nothing repeats",
      diagnostics: [{ severity: "WARNING", message: "unknown" }],
    },
  );
  expect(text(".no-steps")).toContain("nothing repeats");
  expect(text(".diagnostics")).toContain("unknown");
});

test("names are text", () => {
  show({ step: "0" }, { hosts: ["<img src=x onerror=alert(1)>", "b"] });
  expect(document.querySelector("img")).toBeNull();
});

test("one worker is said to be alone, with the way to its steps, and no chart compares it", () => {
  show(
    {},
    {
      workers: { core_id: [0], name: ["TPU:0"], kind: ["TPU"], host: [0] },
      hosts: ["pod-w-0"],
      total: [1000, 1100, 300],
      share_permille: { "1": [600, 600, 900] },
      stragglers: [],
    },
  );
  expect(text(".verdict")).toContain("TPU:0 is the only worker: there is nothing to compare.");
  expect(text(".verdict a")).toBe("See its steps in the overview");
  expect(document.querySelectorAll(".card")).toHaveLength(1);
});
