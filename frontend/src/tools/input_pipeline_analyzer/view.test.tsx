import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test, vi } from "vitest";
import type { View } from "../../base/url_state";
import { named, press, text, texts } from "../../widgets/dom.test_helper";
import { eachAnew, noted, pageProps } from "../page.test_helper";
import { parseInputPipeline } from "./payload";
import { samplePipeline } from "./sample.test_helper";
import { InputPipelinePage } from "./view";

// What draws has no canvas here. Not the module around it: two charts that load that at once make
// Vitest load the real one for the second.
vi.mock("uplot", () => ({
  default: class {
    over = document.createElement("div");
    cursor = {};
    scales = { y: {} };
    setData() {}
    setSize() {}
    redraw() {}
    destroy() {}
  },
}));

eachAnew();

async function show(json: unknown, view: View = {}, page = "pod_viewer") {
  act(() =>
    render(
      <InputPipelinePage
        payload={parseInputPipeline(json)}
        view={view}
        {...pageProps(null, undefined, [page])}
      />,
      document.body,
    ),
  );
  await act(() => vi.dynamicImportSettled());
}

const titles = () => texts("h2");

test("verdict, charts, statistics, host work, advice, activities, ops", async () => {
  await show(samplePipeline({ summary_nextstep: "Look below." }));
  expect(text(".verdict")).toBe(
    "Input-boundThe program is highly input-bound: 40.0 % waits. Shorten it.Look below.",
  );
  expect(titles()).toEqual([
    "Share of the step spent waiting for input",
    "Step time",
    "Waiting for input",
    "Cores that wait longest for input",
    "Work on the host",
    "What to do",
    "Where threads wait",
    "Where threads work",
    "Input ops",
    "About this trace",
  ]);
  expect(text(".pipeline-statistic")).toContain("Average10.0 msMedian10.0 msDeviation– one step");
  expect(text(".pipeline-host .part-table")).toContain("Preprocessing9.0090.0 %");
  expect(text(".pipeline-host")).toContain("The program waited 4.00 ms for the pipeline.");
  expect(document.querySelector<HTMLDetailsElement>(".pipeline-advice details")?.open).toBe(true);
  expect(text(".pipeline-cores tbody")).toBe("h:TPU:11 of 2 steps7");
});

test("the longest wait opens where the finding does, and the stage that is waited for is named", async () => {
  const cause = { input_cause_stage: "Iterator::Root::Map" };
  const wait = "q=category%3Ainput&hosts=h1&step=3&from_ms=1&to_ms=2";
  await show(samplePipeline({ ...cause, longest_wait: wait }), {}, "trace_viewer");
  expect(text(".pipeline-notes")).toContain("Steps wait mostly for Iterator::Root::Map");
  expect(text(".pipeline-notes")).not.toContain("The op with the most work is");
  act(() => named("a", "See the longest wait")?.click());
  const place = { q: "category:input", step: "3", from_ms: "1", to_ms: "2" };
  expect(noted.opened).toEqual([["trace_viewer", place]]);
});

test("steps that hardly wait get no advice", async () => {
  const tables = samplePipeline();
  tables[5] = {};
  await show(tables);
  expect(text(".pipeline-advice")).toContain("Nothing to do: steps hardly wait for input.");
});

test("where waiting is a guess, nobody says that steps hardly wait", async () => {
  const tables = samplePipeline({ input_is_guess: "true" });
  tables[5] = {};
  await show(tables);
  expect(text(".pipeline-advice")).toContain("does not show whether steps wait");
});

test("a step opens on every worker, with what marks steps", async () => {
  await show(samplePipeline(), { marker: "train" });
  const chart = document.querySelector(".step-host");
  press(chart, "ArrowRight");
  press(chart, "Enter");
  // Without a width both steps share a column, which stands for the slower one.
  expect(noted.opened).toEqual([["pod_viewer", { marker: "train", step: "0" }]]);
});

test("without steps the host's side is still there", async () => {
  const [, , ...rest] = samplePipeline();
  await show([{}, {}, ...rest]);
  expect(text(".verdict")).toContain("No steps");
  expect(titles()).toContain("No steps in this trace");
  expect(titles()).toContain("Work on the host");
  expect(titles()).not.toContain("Share of the step spent waiting for input");
});

test("where nothing waits for input the page is short, and the host's side is there on demand", async () => {
  const no = { input_bottleneck: "device", waiting_percent: "1", infeed_percent_maximum: "2" };
  await show(samplePipeline(no));
  expect(titles()).toEqual(["Step time", "Waiting for input", "About this trace"]);
  const more = [...document.querySelectorAll<HTMLElement>(".page .link")].find((link) =>
    link.textContent?.startsWith("Show the host"),
  );
  act(() => more?.click());
  expect(titles()).toContain("Work on the host");
});

test("without input ops it says why", async () => {
  const tables = samplePipeline();
  tables[2] = {};
  tables[6] = {};
  await show(tables);
  expect(titles()).toContain("No input ops in this trace");
  expect(titles()).not.toContain("Input ops");
});
