import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import type { View } from "../../base/url_state";
import { press, text, texts } from "../../widgets/dom.test_helper";
import { eachAnew, NAMES, noted, pageProps } from "../page.test_helper";
import tool from ".";
import { parseTfData } from "./payload";
import { GRAPH_ROWS, SHUFFLE, SHUFFLE_ID, samplePayload } from "./sample.test_helper";
import { TfDataPage } from "./view";

eachAnew();

function show(view: View = {}, json: unknown = samplePayload()) {
  act(() =>
    render(
      <TfDataPage
        payload={parseTfData(json)}
        view={view}
        {...pageProps()}
        links={{
          ...NAMES,
          reason: () => null,
          address: (_, shown, hosts) => `#${new URLSearchParams(shown)}&hosts=${hosts}`,
          open: () => {},
        }}
        hosts={["h0", "h1"]}
      />,
      document.body,
    ),
  );
}

const query = (selector: string) => document.querySelector<HTMLElement>(selector);
const click = (element: Element | null | undefined) =>
  act(() => void element?.dispatchEvent(new MouseEvent("click", { bubbles: true })));
const node = (at: number) => query(`[data-node="${at}"]`);

test("the summary names host, pipeline, latency and bottleneck, and how to fix it", () => {
  show();
  expect(text(".tf-sentence")).toBe("Slow pipeline There is a slow input pipeline.");
  expect(text(".tf-facts")).toContain("Maximum latency76.0 ms");
  expect(text(".tf-facts")).toContain("Shuffle 36.0 ms self time, 47.4 % of the slowest call");
  expect(text(".tf-long-name code")).toBe(SHUFFLE);
  expect(texts(".tf-advice .finding-title")).toEqual(["Shuffle filenames", "Cache"]);
  expect(text(".tf-advice .tf-code code")).toBe(".shuffle(100).map(f)");
  expect(query(".tf-advice a")?.getAttribute("href")).toMatch(/^https:/);
});

test("a pipeline that is fast is said to be", () => {
  show({}, samplePayload({ isInputBound: false }));
  expect(text(".tf-sentence .tag")).toBe("No slow pipeline");
});

test("a click on a pipeline shows it in the graph", () => {
  show();
  const rows = [...document.querySelectorAll(".tf-pipelines tbody tr")];
  expect(rows.map((row) => row.querySelector("th button")?.textContent)).toEqual([
    "Host:0",
    "Host:0",
    "Device:0",
  ]);
  expect(rows[0].getAttribute("aria-current")).toBe("true");
  expect(rows[2].textContent).toContain("draws from Host:0");
  click(rows[1]);
  expect(noted.selected).toEqual([
    { graph_host: "h1", input_pipeline: "Host:0", rank: null, node: null, open: null, look: null },
  ]);
});

test("outlines tell the bottleneck, the critical path and the others apart", () => {
  show();
  const outline = (at: number) => {
    const rect = node(at)?.querySelector(".outline");
    return ["stroke", "stroke-width", "stroke-dasharray"].map((name) => rect?.getAttribute(name));
  };
  expect(outline(3)).toEqual(["var(--danger)", "3.5", null]);
  expect(outline(1)).toEqual(["var(--text)", "2.5", null]);
  expect(outline(5)).toEqual(["var(--control-border)", "1", "5 4"]);
  expect(node(3)?.textContent).toContain(
    "Start time1400 µsTotal duration74.0 msSelf time36.0 msCalls32",
  );
  expect(node(4)?.textContent).toContain("parallelism 8");
});

test("Enter and arrows work on iterators", () => {
  show();
  expect(node(3)?.getAttribute("tabindex")).toBe("0");
  expect(node(2)?.getAttribute("tabindex")).toBe("-1");
  press(node(3), "ArrowRight");
  expect(document.activeElement).toBe(node(2));
  press(node(2), "ArrowLeft");
  expect(document.activeElement).toBe(node(3));
  press(node(3), "Enter");
  expect(noted.selected).toEqual([{ node: SHUFFLE_ID }]);
});

test("the details of an iterator lead to its events", () => {
  show({ node: "5" });
  expect(text(".tf-details h3")).toBe("ParallelMapV2");
  expect(text(".tf-times")).toContain("Worker time290 ms on its own threads");
  expect(text(".tf-times")).toContain("Waiting29.0 ms of the self time, for its own threads");
  expect(text(".tf-parameters")).toBe("parallelism8deterministictrue");
  const [events, execution] = [...document.querySelectorAll(".tf-trace-links a")].map((link) =>
    link.getAttribute("href"),
  );
  expect(events).toContain("q=iterator%3AIterator%3A%3ARoot");
  expect(events).toContain("from_ms=1.2&to_ms=77.2&hosts=h0");
  expect(execution).not.toContain("q=");
  click(query('[aria-label="Close the details"]'));
  expect(noted.selected).toEqual([{ node: null }]);
});

test("what was not measured is a dash with its reason", () => {
  show({ node: "1" });
  expect(text(".tf-times")).toContain("Worker time– it has no threads of its own");
  expect(text(".tf-details")).toContain("None were recorded.");
});

test("the rank goes to any execution", () => {
  show();
  const field = query(".tf-rank-field") as HTMLInputElement;
  expect([field.value, field.max]).toEqual(["0", "9"]);
  field.value = "7";
  act(() => void field.dispatchEvent(new Event("change", { bubbles: true })));
  click(query('[aria-label="Faster execution"]'));
  click(query('[aria-label="Slower execution"]'));
  expect(noted.selected).toEqual([
    { graph_host: "h0", input_pipeline: "Host:0", rank: "7" },
    { graph_host: "h0", input_pipeline: "Host:0", rank: "1" },
  ]);
  field.value = "99999";
  act(() => void field.dispatchEvent(new Event("change", { bubbles: true })));
  expect(noted.selected.at(-1)?.rank).toBe("9");
});

test("a rank that is being typed stays when an answer comes", () => {
  show();
  const field = query(".tf-rank-field") as HTMLInputElement;
  const answer = (rank: number) =>
    show({}, samplePayload({ graph: GRAPH_ROWS.map((row) => row.with(2, rank)) }));
  answer(3);
  expect([query(".tf-rank-field"), field.value]).toEqual([field, "3"]);
  field.value = "7";
  act(() => void field.dispatchEvent(new Event("input", { bubbles: true })));
  answer(4);
  expect(field.value).toBe("7");
  act(() => void field.dispatchEvent(new Event("change", { bubbles: true })));
  expect(noted.selected.at(-1)?.rank).toBe("7");
});

test("thousands of iterators say how many are drawn, and a stub opens", () => {
  const graph = Array.from({ length: 3000 }, (_, index) =>
    GRAPH_ROWS[0]
      .with(3, String(index + 1))
      .with(4, index === 0 ? "" : "1")
      .with(5, 0),
  );
  show({}, samplePayload({ graph }));
  expect(text(".tf-hidden")).toContain("9 of 3,000 iterators are drawn");
  click(query(".tf-stub"));
  expect(noted.selected).toEqual([{ open: "1" }]);
});

test("an execution whose making began before the recording says so", () => {
  show();
  expect(query(".tf-hidden")).toBeNull();
  const second = GRAPH_ROWS.map((row) => row.with(2, 1));
  show({}, samplePayload({ graph: second }));
  expect(text(".tf-hidden")).toContain("was started before the recording");
});

test("the table holds every iterator", () => {
  show({ graph: "table" });
  expect(query(".graph-frame")).toBeNull();
  expect(query('[role="treegrid"]')?.getAttribute("aria-rowcount")).toBe("8");
});

test("names are text", () => {
  const graph = GRAPH_ROWS.map((row) => row.with(6, "<img src=x onerror=alert(1)>"));
  show({ node: "1" }, samplePayload({ graph }));
  expect(document.querySelector("img")).toBeNull();
  expect(text(".tf-details h3")).toBe("<img src=x onerror=alert(1)>");
});

test("without pipelines the page says why", () => {
  expect(tool.emptiness(parseTfData(samplePayload()))).toBeNull();
  expect(tool.emptiness(parseTfData([{}, {}, {}]))).toMatch(/no tf.data events/);
});
