import { render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, expect, test, vi } from "vitest";
import type { View } from "../../base/url_state";
import { press, text, texts } from "../../widgets/dom.test_helper";
import { eachAnew, noted, pageProps } from "../page.test_helper";
import type { Ask } from "../tool";
import { parseMemory } from "./payload";
import { sampleAllocator, sampleMemory } from "./sample.test_helper";
import { MemoryPage } from "./view";

beforeEach(() => void vi.useFakeTimers());
eachAnew();

function show(view: View = {}, more: Record<string, unknown> = {}, ask?: Ask) {
  act(() =>
    render(
      <MemoryPage
        payload={PAYLOADS(more)}
        view={view}
        {...pageProps(sampleMemory({ chosen: 1 }), ask)}
      />,
      document.body,
    ),
  );
}

const PAYLOADS = (() => {
  const known = new Map<string, ReturnType<typeof parseMemory>>();
  return (more: Record<string, unknown>) => {
    const key = JSON.stringify(more);
    const memory = known.get(key) ?? parseMemory(sampleMemory(more));
    known.set(key, memory);
    return memory;
  };
})();

const facts = () =>
  Object.fromEntries(
    [...document.querySelectorAll(".memory-fact")].map((fact) => [
      fact.querySelector("dt > button")?.textContent,
      fact.querySelector("dd")?.textContent,
    ]),
  );
const plot = () => document.querySelector(".memory-plot");

test("what fills the memory at the instant is said first, layers together", () => {
  const GIB = 2 ** 30;
  show();
  expect(text(".memory-fills")).toBe(
    "At the peak:50.0 % dense/Relu25.0 % dense/MatMul25.0 % allocated before the recording began",
  );
  const breakdown = sampleMemory().breakdown as { readonly rows: Record<string, unknown> };
  const rows = {
    ...breakdown.rows,
    op: ["layer_1/mul", "layer_2/mul", ""],
    allocated_bytes: [GIB, 2 * GIB, GIB],
  };
  show({}, { breakdown: { ...breakdown, is_peak: false, rows } });
  expect(text(".memory-fills")).toBe("At this instant:75.0 % layer_*/mul25.0 % ops without a name");
  show({}, { breakdown: { ...breakdown, in_use_bytes: 0, rows } });
  expect(document.querySelector(".memory-fills")).toBeNull();
});

test("the program that ran at the peak leads to what it keeps in memory", () => {
  show();
  expect(document.querySelector(".memory-notes a")).toBeNull();
  const memory_ids = [sampleAllocator("0", { peak_program: "jit_f(7)" })];
  show({}, { memory_ids, pictured: [0] });
  const link = document.querySelector<HTMLAnchorElement>(".memory-notes a");
  expect(link?.textContent).toBe("jit_f(7)");
  expect(link?.getAttribute("href")).toContain("memory_viewer");
});

test("the summary has the figures of the guide, with units", () => {
  show();
  expect(facts()).toEqual({
    Allocations: "4",
    Deallocations: "3",
    "Memory capacity": "16.0 GiB",
    "Peak heap usage (lifetime)": "5.00 GiB",
    "Peak memory usage": "4.00 GiB",
    Timestamp: "3.000 ms",
    "Stack reservation": "0 GiB",
    "Heap allocation": "4.00 GiB",
    "Free memory": "12.0 GiB",
    Fragmentation: "50.0 %",
  });
});

test("what was not recorded says so, and is not zero", () => {
  show({}, { chosen: 2 });
  expect(facts()["Memory capacity"]).toBe("–free memory was not recorded");
  expect(facts().Fragmentation).toBe("–not recorded");
  expect(text(".memory-notes")).toContain("the sum of the events");
  expect(text(".memory-notes")).toContain("3 deallocations");
});

test("arrow keys go from event to event, with all ten facts; Enter breaks it down", () => {
  show();
  press(plot(), "ArrowRight");
  press(plot(), "ArrowRight");
  press(plot(), "ArrowRight");
  press(plot(), "ArrowRight");
  const told = [...document.querySelectorAll(".memory-card [data-fact]")].map(
    (fact) => `${fact.querySelector("dt")?.textContent}: ${fact.querySelector("dd")?.textContent}`,
  );
  expect(told).toEqual([
    "Timestamp: 4.000 ms",
    "Event: deallocation",
    "Requested size: -1.00 GiB",
    "Allocation size: -1.00 GiB",
    "Op: dense/Relu",
    "Step: train 7",
    "Region type: temp",
    "Data type: float",
    "Tensor shape: [512,512]",
    "Memory in use: 3.00 GiB",
  ]);
  expect(plot()?.getAttribute("aria-valuetext")).toContain("Event deallocation");
  press(plot(), "Enter");
  expect(noted.selected).toEqual([{ at_ps: "4000000000" }]);
  press(plot(), "Escape");
  expect(document.querySelector(".memory-card")).toBeNull();
});

test("what the recorder did not write is a dash with the reason", () => {
  show();
  press(plot(), "End");
  press(plot(), "ArrowLeft");
  const op = text('.memory-card [data-fact="tf_op"] dd');
  expect(op).toBe("– (op not recorded)");
  expect(text('.memory-card [data-fact="requested_size"] dd')).toContain("size not recorded");
});

test("keys zoom, and p goes to the peak", () => {
  show();
  press(plot(), "+");
  expect(noted.selected.at(-1)).toEqual({ from_ps: "2000000000", to_ps: "6000000000" });
  press(plot(), "p");
  expect(noted.selected.at(-1)).toEqual({ at_ps: null });
  show({ from_ps: "2000000000", to_ps: "6000000000" });
  press(plot(), "]");
  expect(noted.selected.at(-1)).toEqual({ from_ps: "4000000000", to_ps: "8000000000" });
  press(plot(), "Escape");
  expect(noted.selected.at(-1)).toEqual({ from_ps: null, to_ps: null });
});

test("the server is asked for the window, the memory and the instant of the address", async () => {
  show({ memory_id: "GPU_1_bfc", at_ps: "4000000000", from_ps: "1", to_ps: "5000000000" });
  expect(document.querySelector(".memory-timeline")?.getAttribute("aria-busy")).toBe("true");
  await act(async () => void (await vi.advanceTimersByTimeAsync(100)));
  expect(noted.asked).toEqual([
    { memory_id: "GPU_1_bfc", at_ps: "4000000000", from_ps: "1", to_ps: "5000000000" },
  ]);
  expect(text(".memory-picker .picker-value")).toBe("GPU_1_bfc");
  expect(document.querySelector(".memory-timeline")?.getAttribute("aria-busy")).toBe("false");
});

test("an answer that fails leaves what is shown, and says why", async () => {
  show({ at_ps: "5" }, {}, async () => {
    throw new Error("no answer");
  });
  await act(async () => void (await vi.advanceTimersByTimeAsync(100)));
  expect(text("[role=alert]")).toContain("no answer");
  expect(text(".memory-instant-text")).toContain(
    "4.00 GiB in use at 3.000 ms in step train 7, the peak",
  );
});

test("memories are small pictures; a click chooses one", () => {
  show();
  const small = [...document.querySelectorAll<HTMLElement>(".memory-multiple")];
  expect(texts(".memory-multiple .cut")).toEqual(["GPU_0_bfc", "GPU_1_bfc", "gpu_host_bfc"]);
  expect(small[0].getAttribute("aria-pressed")).toBe("true");
  act(() => small[1].click());
  expect(noted.selected).toEqual([{ memory_id: "GPU_1_bfc", at_ps: null }]);
});

test("of many memories those are pictured that the server chose", () => {
  const ids = ["GPU_0_bfc", "GPU_1_bfc", "GPU_2_bfc"].map((id) => sampleAllocator(id));
  show({}, { memory_ids: ids, pictured: [2, 0] });
  expect(texts(".memory-multiple .cut")).toEqual(["GPU_2_bfc", "GPU_0_bfc"]);
  expect(text(".memory-devices .card-head")).toContain("the fullest of 3");
});

test("one memory needs no pictures of all", () => {
  show({}, { memory_ids: [sampleAllocator("GPU_0_bfc")] });
  expect(document.querySelector(".memory-multiples")).toBeNull();
});

const part = (label: string) =>
  [...document.querySelectorAll<HTMLElement>(".step-legend button")].find(
    (button) => button.textContent === label,
  );
const shownParts = () =>
  ["Capacity", "Free", "Heap", "Stack", "Fragmentation"].filter(
    (label) => part(label)?.getAttribute("aria-pressed") === "true",
  );

test("free memory is not drawn until it is asked for, nor is a capacity that is far away", () => {
  show();
  expect(shownParts()).toEqual(["Heap", "Stack", "Fragmentation"]);
  act(() => part("Capacity")?.click());
  expect(noted.selected.at(-1)).toEqual({ hide: "free" });
  show({ hide: "free" });
  expect(shownParts()).toEqual(["Capacity", "Heap", "Stack", "Fragmentation"]);
  act(() => part("Free")?.click());
  expect(noted.selected.at(-1)).toEqual({ hide: "nothing" });
  act(() => part("Capacity")?.click());
  expect(noted.selected.at(-1)).toEqual({ hide: null });
});

test("the capacity of a memory that fills is drawn", () => {
  show({}, { memory_ids: [sampleAllocator("GPU_0_bfc", { peak_bytes: 10 * 2 ** 30 })] });
  expect(shownParts()).toContain("Capacity");
});

test("the breakdown is sorted, grouped and drawn as areas, which filter", () => {
  show({ group: "age" });
  expect(text(".memory-breakdown .table-count")).toBe("3 rows in 3 groups");
  show({ map: "1", "f.op": "dense" });
  expect(text(".memory-breakdown .table-count")).toBe("2 of 3 rows");
});

test("findings and leaks are listed with what they are about", () => {
  show();
  expect(text(".memory-findings summary")).toContain("dense/Relu holds half of the peak");
  expect(text(".memory-findings .finding-value")).toBe("2.00 GiB · 50.0 %");
  expect(text(".memory-leaks tbody")).toContain("dense/MatMul1.00 GiB12float [512,512]");
});

test("names are text", () => {
  const name = "<img src=x onerror=alert(1)>";
  show(
    {},
    {
      texts: [name, name, name, name, name, name],
      memory_ids: [sampleAllocator(name), sampleAllocator("b")],
    },
  );
  press(plot(), "ArrowRight");
  expect(document.querySelector("img")).toBeNull();
  expect(text(".memory-card")).toContain(name);
});
