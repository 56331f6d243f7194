// @vitest-environment happy-dom
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { named, press, text, texts } from "../../widgets/dom.test_helper";
import { eachAnew, noted, pageProps } from "../page.test_helper";
import { type Profile, parseProfile } from "./payload";
import { ROWS, sampleJson, sampleProfile } from "./sample.test_helper";
import { ProgramsPage } from "./view";

const DETAILS = {
  name: "dot.1",
  result: "bf16[8,8]{1,0}",
  operands: "bf16[8,4]{1,0}, bf16[4,8]{1,0}",
  stack: "step train.py:12\nmain train.py:40",
  kernel_names: 2,
  kernels: [
    { name: "gemm", occurrences: 2, total_ps: 40e6 },
    { name: "split", occurrences: 2, total_ps: 8e6 },
  ],
};

eachAnew();
beforeEach(() => {
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
  vi.stubGlobal("requestAnimationFrame", () => 1);
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(600);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function show(
  view: Record<string, string> = {},
  answer: unknown = DETAILS,
  payload: Profile = sampleProfile(),
) {
  await act(async () =>
    render(<ProgramsPage {...pageProps(answer)} payload={payload} view={view} />, document.body),
  );
}

const rowTexts = () =>
  [...document.querySelectorAll(".trace-rows-body [role=row]")].map(
    (row) => row.querySelector(".name")?.textContent ?? "",
  );

function row(name: string): HTMLElement {
  const rows = [...document.querySelectorAll<HTMLElement>(".trace-rows-body [role=row]")];
  return rows.find((row) => row.textContent?.includes(name))!;
}

test("the sentence says what takes most and what is wasted", async () => {
  await show();
  expect(text(".program-summary")).toBe(
    "jit_f(7) takes 74.0 % of op time on 1 GPU, at 50.0 % of the peak FLOP rate. " +
      "Of all 100 µs, 59.0 µs (59.0 %) is wasted. For 4.0 %, this is unknown. ",
  );
});

test("a row opens, and an op that is chosen goes into the address", async () => {
  await show();
  expect(rowTexts()).toContain("dot.1");
  await act(async () => row("dot.2").click());
  expect(noted.selected.at(-1)).toEqual({ program_id: "7", node_name: "dot.2" });
  await act(async () => row("while").click());
  expect(noted.selected.at(-1)).toEqual({ program_id: null, node_name: null });
  expect(text(".program-details h2")).toBe("Category");
});

test("a program of the address is shown, and an op that is not there yet is asked for", async () => {
  await show({ program_id: "8" });
  expect(noted.asked).toEqual([]);
  expect(text(".program-details h2")).toBe("Program");
  await show({ program_id: "8", node_name: "copy.9" });
  expect(noted.asked).toEqual([{ rows: "0" }]);
});

test("the op of the address is shown with what the server knows of it", async () => {
  await show({ program_id: "7", node_name: "dot.1" });
  expect(noted.asked).toEqual([{ row: "0" }]);
  const shown = text(".program-details");
  for (const part of [
    "bf16[8,8]{1,0}", "/src/train.py:12", "40.0 % of the peak", "1.00 TFLOP/s",
    "recorded by the device", "step train.py:12", "jit(f)/jvp(a/b)/dot:",
  ]) // biome-ignore format: what is shown
    expect(shown).toContain(part);
  const links = [...document.querySelectorAll(".program-links a, .program-kernels a")].map((link) =>
    link.getAttribute("href"),
  );
  expect(links[0]).toBe("#trace_viewer?instruction:dot.1 program:7");
  expect(links.filter((link) => link?.startsWith("#kernel_stats"))).toHaveLength(2);
});

test("groupings, idle time and the order are in the address", async () => {
  await show({ group: "source", idle: "1", sort: "name" });
  expect(rowTexts().at(0)).toBe("/src/train.py");
  expect(rowTexts().at(-1)).toBe("Idle");
  const radios = [...document.querySelectorAll<HTMLInputElement>("input[type=radio]")];
  expect(radios.map(({ checked }) => checked)).toEqual([false, false, false, true]);
  await act(async () => radios[1].click());
  expect(noted.selected.at(-1)).toEqual({ group: "category" });
  const [name, time] = document.querySelectorAll<HTMLElement>(".trace-sort");
  await act(async () => name.click());
  expect(noted.selected.at(-1)).toEqual({ sort: "-name" });
  await act(async () => time.click());
  expect(noted.selected.at(-1)).toEqual({ sort: "time" });
});

test("keys move in the picture", async () => {
  await show();
  press(document.querySelector(".icicle"), "ArrowDown");
  expect(text(".icicle [role=status]")).toContain("jit_f(7): 74.0 µs (74.0 %), 35.0 µs wasted");
});

test("what is not loaded is loaded when that is asked for", async () => {
  // Parts of four rows and of one, with texts of their own.
  const parts = [sampleJson(ROWS.slice(0, 4)), sampleJson([ROWS[0]])];
  await show({}, (asked: Record<string, string>) => ({
    ...parts[asked.rows === "0" ? 0 : 1],
    instructions: 5,
  }));
  await act(async () => row("25 shorter ops").click());
  const load = named(".program-details button", "Load all 29 ops");
  await act(async () => load?.click());
  await act(async () => {});
  expect(noted.asked.slice(-2)).toEqual([{ rows: "0" }, { rows: "4" }]);
});

test("the HLO text is asked for when it is opened", async () => {
  await show({ program_id: "7", node_name: "dot.2" }, { ...DETAILS, text: "%dot.2 = fusion(...)" });
  const parts = [...document.querySelectorAll<HTMLDetailsElement>(".program-stack")];
  const hlo = parts.find((part) => part.textContent?.startsWith("HLO text"));
  await act(async () => {
    hlo!.open = true;
    hlo!.dispatchEvent(new Event("toggle"));
  });
  expect(noted.asked.at(-1)).toEqual({
    tag: "graph_viewer",
    type: "node",
    program_id: "7",
    node_name: "dot.2",
  });
  await act(async () => {});
  expect(hlo?.textContent).toContain("%dot.2 = fusion(...)");
});

test("without peaks no columns are of their shares, and a CPU's memory is not its HBM", async () => {
  const rows = ROWS.map(({ share: _share, wasted: _wasted, ...row }) => row);
  const json = sampleJson(rows);
  const known = { ...(json.rows as Record<string, unknown>), hbm_share: rows.map(() => null) };
  const cpu = { device_type: "CPU", peaks: { flops: [], memories: [] }, rows: known };
  const view = { program_id: "8", node_name: "copy.4" };
  await show(view, DETAILS, parseProfile({ ...json, ...cpu }));
  expect(texts("[role=columnheader]").map((title) => title.replace(/[ ▼▲]+$/, ""))).toEqual([
    "Name",
    "Time (µs)",
    "Share",
    "Executions",
  ]);
  expect(text(".program-details")).toContain("Memory bandwidth");
  expect(text(".program-details")).not.toContain("HBM");
});
