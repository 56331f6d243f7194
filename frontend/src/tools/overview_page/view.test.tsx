import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test, vi } from "vitest";
import type { View } from "../../base/url_state";
import { named, press, text, texts } from "../../widgets/dom.test_helper";
import { eachAnew, noted, pageProps } from "../page.test_helper";
import { parseOverview } from "./payload";
import { type SampleDevice, samplePayload } from "./sample.test_helper";
import { firstSentence } from "./verdict";
import { OverviewPage } from "./view";

vi.mock("../../widgets/step_chart/plot", () => ({
  createPlot: () => ({
    update: () => {},
    mark: () => null,
    beside: () => 2,
    recolor: () => {},
    destroy: () => {},
  }),
}));

eachAnew();

async function show(
  kind: SampleDevice,
  view: View = {},
  tools = ["framework_op_stats", "kernel_stats"],
) {
  act(() => {
    render(
      <OverviewPage
        payload={parseOverview(samplePayload({ kind, steps: 10 }))}
        view={view}
        {...pageProps(null, undefined, tools)}
      />,
      document.body,
    );
  });
  await act(() => vi.dynamicImportSettled());
}

const tile = (title: string) => text(`.tile[aria-label="${title}"]`);

test("the verdict is one sentence with its number and what it costs", async () => {
  await show("gpu");
  expect(text(".verdict")).toBe(
    "HighThe program is highly input-bound: 31.6 % of step time is spent waiting for input. At most 1.07 ms of 3.40 ms could be saved.See the evidence",
  );
  act(() => named("a", "See the evidence")?.click());
  expect(noted.opened).toEqual([
    ["framework_op_stats", { "f.operation": "Iterator", filters: "1" }],
  ]);
});

test("the line over the steps leaves out those that were not fully recorded", async () => {
  await show("gpu");
  const path = document.querySelector(".sparkline path")?.getAttribute("d");
  expect(path?.match(/[ML]/g)).toHaveLength(8); // of 10 steps the first and the last are cut
});

test("the tiles have the five figures", async () => {
  await show("gpu");
  expect(tile("Average step")).toContain("3.40 msσ 120 µs · 8 of 10 steps · 3.10 ms to 9.60 ms");
  expect(tile("Waiting for input")).toContain("31.6 %1.07 ms of each step · 12.1 to 79.5 %");
  expect(tile("Device busy")).toContain(
    "62.3 %52.9 % computing · 0.3 % in collectives · 1.5 % copying on devices · 37.7 % idle",
  );
  expect(tile("Precision")).toContain("61.1 % 16 bit");
  expect(tile("Peak memory")).toContain("12.4 GiB78.5 % of 15.8 GiB");
});

test("what was not measured is a dash with its reason", async () => {
  await show("tpu");
  expect(tile("Peak memory")).toContain("–The trace holds no allocations");
  const readings = [...document.querySelectorAll(".facts")][1].textContent;
  expect(readings).toContain("MXU utilization");
  expect(readings).toContain("–the trace has no such counter");
  expect(readings).toContain("84.2 TFLOP/s");
  expect(readings).toContain(
    "131.0 %more operations than the peak allows: the peak is implausible",
  );
});

test("without steps it says why and how to get them, and shows the rest", async () => {
  await show("none");
  expect(text(".verdict")).toContain("nothing repeats on the busiest thread");
  expect(text(".no-steps")).toContain("StepTraceAnnotation");
  expect(document.body.textContent).toContain("Run environment");
  expect(document.querySelector('[role="slider"]')).toBeNull();
});

test("a chosen step takes the place of the average one", async () => {
  await show("gpu", { step: "3" });
  expect(text(".step-parts h2")).toBe("Step 103");
  const back = document.querySelector<HTMLElement>(".step-parts header .button");
  act(() => back?.click());
  expect(noted.selected).toEqual([{ step: null }]);
});

test.each(["99", "x", "-1"])("step %s of ten is the average", async (step) => {
  await show("gpu", { step });
  expect(text(".step-parts h2")).toBe("Average step");
});

test("a step leads to the trace once there is a trace viewer", async () => {
  await show("gpu", {}, ["trace_viewer"]);
  const slider = document.querySelector('[role="slider"]');
  press(slider, "ArrowRight");
  press(slider, "Enter");
  expect(noted.opened[0][0]).toBe("trace_viewer");
  expect(noted.opened[0][1]).toMatchObject({ step: "102" });
});

test("a link that no page answers is its text, with the reason", async () => {
  await show("gpu", {}, []);
  const item = [...document.querySelectorAll(".finding-links .muted")][0];
  expect(item.textContent).toMatch(/^Evidence/);
  expect(item.getAttribute("title")).toBe("none");
});

test("names and guides of the payload are never markup or scripts", async () => {
  await show("gpu");
  expect(document.querySelector("img")).toBeNull();
  expect(
    [...document.querySelectorAll("a")].map((link) => link.getAttribute("href")),
  ).not.toContain("javascript:alert(1)");
});

test("the marker is named, and marked where it was inferred", async () => {
  await show("cpu");
  expect(text(".marker-picker")).toContain("train");
  expect(text(".marker-picker .tag")).toBe("inferred");
});

test.each([
  ["31.6 % waits. The rest computes.", "31.6 % waits."],
  ["takes 3.4 ms of 5.1", "takes 3.4 ms of 5.1."],
])("the first sentence of %j", (whole, first) => {
  expect(firstSentence(whole)).toBe(first);
});

test("ops of replicas and layers are one row, and each its own on demand", async () => {
  await show("gpu");
  const row = () => text(".top-ops tbody tr");
  expect(row()).toContain("replica_*/resnet/block_*/Conv2D");
  expect(row()).toContain("24 ops");
  const [bar] = document.querySelectorAll<HTMLElement>(".share-bar");
  expect(bar.style.width).toBe("43%");
  document.querySelector<HTMLElement>(".op-link")?.click();
  expect(noted.opened.at(-1)?.[1]["f.operation"]).toBe(
    "/^replica([._]\\d+)?\\/resnet\\/block([._]\\d+)?\\/Conv2D$/",
  );
  act(() => document.querySelector<HTMLInputElement>(".top-ops input")?.click());
  expect(noted.selected.at(-1)).toEqual({ top_ops: "each" });
  await show("gpu", { top_ops: "each" });
  expect(row()).toContain("resnet/conv2_block1/Conv2D");
});

test("on a CPU the tiles say what the host did", async () => {
  await show("cpu");
  expect(texts(".tile .explained").slice(2)).toEqual(["Host compute", "Python", "Threads at work"]);
  expect(tile("Host compute")).toContain("775 µs of each step");
  expect(tile("Threads at work")).toContain("1.25");
  expect(text(".tiles")).not.toContain("–");
});
