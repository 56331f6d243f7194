/** The memory page: figures, the timeline under pointer and keys, what was in use at an instant. */
import type { Locator } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  brokenTexts,
  clickIn,
  colorOf,
  eventually,
  expectGoodLooks,
  LOOKS,
  pixels,
  release,
  textOf,
  workOf,
} from "../harness/browser";
import { expectNumber, expectTime } from "../harness/readings";
import { TRACES } from "../harness/servers";
import { toolRuns } from "../harness/tool_runs";
import {
  type Answer,
  across,
  breakdown,
  card,
  cardFacts,
  expectBytes,
  expectCard,
  facts,
  GIB,
  instant,
  parameter,
  placeIn,
  plot,
  settled,
  wholeOf,
} from "./memory_page";

const TOOL = "memory_profile";
/** A real trace where this machine has one, else a drawn one. */
const RUN = TRACES ? "v100" : "memory";
const runs = toolRuns(TOOL, settled);
const { show } = runs;
const answer = (run: string, view = {}) => runs.answer<Answer>(run, view);
test.each([...(TRACES ? ["v100", "tpu"] : []), "memory", "memory_many"])(
  "%s: every memory's figures are the server's",
  async (run) => {
    const page = await show(run);
    const { memory_ids, chosen } = await answer(run);
    for (const [at, one] of memory_ids.entries()) {
      if (at !== chosen || memory_ids.length > 1) {
        await page.getByRole("button", { name: /^Memory ID: / }).click();
        await page.getByRole("combobox", { name: "Search Memory IDs" }).fill(one.id);
        await page.getByRole("option", { name: one.label }).first().click();
        if (at !== chosen || parameter(page, "memory_id")) {
          await expect.poll(() => parameter(page, "memory_id")).toBe(one.id);
        }
        await settled(page);
      }
      await expect
        .poll(() => textOf(page.locator(".memory-picker .picker-value")))
        .toContain(one.label);
      await eventually(async () => {
        const told = await facts(page);
        expectNumber(told.Allocations, one.allocations);
        expectNumber(told.Deallocations, one.deallocations);
        expectBytes(told["Memory capacity"], one.capacity_bytes);
        expectBytes(told["Peak heap usage (lifetime)"], one.lifetime_bytes);
        expectBytes(told["Peak memory usage"], one.peak_bytes);
        expectBytes(told["Stack reservation"], one.peak_stack_bytes);
        expectBytes(told["Heap allocation"], one.peak_heap_bytes);
        expectBytes(told["Free memory"], one.peak_free_bytes);
        expectTime(told.Timestamp, one.peak_ps / 1e6);
        if (!told.Fragmentation.startsWith("<"))
          expectNumber(/[\d.]+/.exec(told.Fragmentation)?.[0], one.peak_fragmentation * 100);
      });
      await eventually(async () =>
        expectBytes(await textOf(page.locator(".memory-flag")), one.peak_bytes),
      );
      await eventually(async () => expectBytes(await textOf(instant(page)), one.peak_bytes));
    }
    await expect.poll(() => brokenTexts(page)).toEqual([]);
  },
);

test("each figure says how it is computed", async () => {
  const page = await show(RUN);
  for (const label of await page.locator(".memory-fact dt .explained").all()) {
    await label.click();
    await page.locator(".why-text dt", { hasText: "Formula" }).waitFor();
    await page.keyboard.press("Escape");
  }
});

test("the areas are stack and heap, and free memory where it is asked for", async () => {
  const run = TRACES ? "tpu" : "memory";
  const page = await show(run);
  const canvas = page.locator(".memory-frame canvas");
  const seen = async (name: string) =>
    (await pixels(canvas)).get(await colorOf(page, `--c-${name}`)) ?? 0;
  if (TRACES) await expect.poll(() => seen("input")).toBeGreaterThan(500);
  else await expect.poll(() => seen("output")).toBeGreaterThan(500);
  expect(await seen("compute16")).toBe(0);
  await page.getByRole("button", { name: "Free", exact: true }).click();
  await expect.poll(() => seen("compute16")).toBeGreaterThan(500);
  await expect.poll(() => parameter(page, "hide")).not.toBeNull();
  await page.getByRole("button", { name: "Free", exact: true }).click();
  await expect.poll(() => seen("compute16")).toBe(0);
  await expect.poll(() => parameter(page, "hide")).toBeNull();
});

test.runIf(TRACES)(
  "the timeline opens on the steps and the peak, and shows the whole recording when asked",
  async () => {
    const page = await show(RUN);
    const whole = page.getByRole("button", { name: "Whole recording" });
    await whole.click();
    await expect.poll(() => parameter(page, "from_ps")).not.toBeNull();
    await page.getByRole("button", { name: "Steps and peak" }).click();
    await expect.poll(() => parameter(page, "from_ps")).toBeNull();
    await whole.waitFor();
  },
);

test("pointing at an event tells its ten facts; the peak is flagged where it is", async () => {
  const memory = await answer(RUN);
  const page = await show(RUN, wholeOf(memory));
  const { peak_ps } = memory.memory_ids[memory.chosen];
  const { time_ps, stack_bytes, heap_bytes } = memory.timeline;
  await page.mouse.move(...(await placeIn(plot(page), across(memory, peak_ps))));
  await card(page).waitFor();
  const most = Math.max(...time_ps.map((_, at) => stack_bytes[at]! + heap_bytes[at]!));
  await eventually(async () => expectBytes((await cardFacts(page)).memory_in_use, most));
  await eventually(async () => {
    const box = (await plot(page).boundingBox())!;
    const flag = (await page.locator(".memory-flag").boundingBox())!;
    const x = box.x + across(memory, peak_ps) * box.width;
    expect(Math.min(Math.abs(flag.x - x), Math.abs(flag.x + flag.width - x))).toBeLessThan(3);
  });
});

test("arrow keys go through every event; Enter breaks it down", async () => {
  const memory = await answer(RUN);
  const page = await show(RUN, wholeOf(memory));
  await plot(page).focus();
  for (const point of [0, 1, 2]) {
    await page.keyboard.press("ArrowRight");
    await expectCard(page, memory, point);
  }
  const free = memory.timeline.is_allocation.indexOf(0);
  await page.keyboard.press("End");
  const last = memory.timeline.time_ps.length - 1;
  await expectCard(page, memory, last);
  for (let point = last; point > Math.max(free, last - 40); point--)
    await page.keyboard.press("ArrowLeft");
  const at = Math.max(free, last - 40);
  await expectCard(page, memory, at);
  await expect.poll(() => plot(page).getAttribute("aria-valuetext")).toContain("Memory in use");
  await page.keyboard.press("Enter");
  const ps = String(memory.timeline.time_ps[at]);
  await expect.poll(() => parameter(page, "at_ps")).toBe(ps);
  await settled(page);
  const then = await answer(RUN, { at_ps: ps });
  await eventually(async () =>
    expectBytes(await textOf(instant(page)), then.breakdown.in_use_bytes),
  );
  await page.keyboard.press("p");
  await expect.poll(() => parameter(page, "at_ps")).toBeNull();
  await instant(page).getByText(", the peak").waitFor();
  await page.keyboard.press("+");
  await expect.poll(() => parameter(page, "from_ps")).not.toBeNull();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await expect.poll(() => parameter(page, "from_ps")).toBeNull();
});

test("a click chooses the instant, and the breakdown is of it, whole", async () => {
  const memory = await answer(RUN);
  const page = await show(RUN, wholeOf(memory));
  const rows = memory.breakdown.rows.allocated_bytes.length;
  await expect.poll(() => breakdown(page).getAttribute("aria-rowcount")).toBe(String(rows + 2));
  const { time_ps } = memory.timeline;
  await clickIn(plot(page), across(memory, time_ps[0]!) + 0.002, 0.6);
  await expect.poll(() => parameter(page, "at_ps")).not.toBeNull();
  await settled(page);
  const then = await answer(RUN, { at_ps: parameter(page, "at_ps")! });
  expect(then.breakdown.is_peak).toBe(false);
  await expect
    .poll(() => breakdown(page).getAttribute("aria-rowcount"))
    .toBe(String(then.breakdown.rows.allocated_bytes.length + 2));
  await eventually(async () =>
    expectBytes(await textOf(instant(page)), then.breakdown.in_use_bytes),
  );
  const sum = then.breakdown.rows.allocated_bytes.reduce<number>(
    (all, one) => all + Number(one),
    0,
  );
  expect(sum).toBe(then.breakdown.in_use_bytes);
  await instant(page).getByRole("button", { name: "Back to the peak" }).click();
  await instant(page).getByText(", the peak").waitFor();
});

test("a brush asks for its window and shows more; a double click shows everything", async () => {
  const page = await show("memory_many");
  const whole = await answer("memory_many");
  expect(whole.timeline.is_sampled).toBe(true);
  expect(whole.timeline.time_ps.length).toBeLessThanOrEqual(2000);
  const asked = page.waitForRequest(/data\?.*from_ps=\d+&to_ps=\d+/);
  await page.mouse.move(...(await placeIn(plot(page), 0.5)));
  await page.mouse.down();
  await page.mouse.move(...(await placeIn(plot(page), 0.53)), { steps: 4 });
  await page.mouse.move(...(await placeIn(plot(page), 0.55)), { steps: 4 });
  await page.mouse.up();
  const query = new URL((await asked).url()).searchParams;
  await settled(page);
  const [from, to] = [query.get("from_ps"), query.get("to_ps")].map(Number);
  const length = whole.end_ps - whole.begin_ps;
  expect((from - whole.begin_ps) / length).toBeCloseTo(0.5, 2);
  expect((to - whole.begin_ps) / length).toBeCloseTo(0.55, 2);
  const part = await answer("memory_many", { from_ps: String(from), to_ps: String(to) });
  expect(part.timeline.is_sampled).toBe(false);
  const drawn = whole.timeline.time_ps.filter((ps) => ps! >= from && ps! <= to).length;
  expect(part.timeline.events).toBeGreaterThan(2 * drawn);
  await expect
    .poll(() => textOf(page.locator(".memory-drawn")))
    .toBe(`${part.timeline.events} events`);
  await expect
    .poll(() => plot(page).getAttribute("aria-valuemax"))
    .toBe(String(part.timeline.time_ps.length - 1));
  await expect.poll(() => parameter(page, "from_ps")).toBe(String(from));
  await page.mouse.dblclick(...(await placeIn(plot(page), 0.4)));
  await expect.poll(() => parameter(page, "from_ps")).toBeNull();
  expect(parameter(page, "at_ps")).toBeNull();
  await page.getByText("12,000 events, drawn as").waitFor();
});

test("rows can be filtered by op, grouped, and drawn as areas", async () => {
  const page = await show(RUN);
  const { breakdown: then, texts } = await answer(RUN);
  const ops = then.rows.op.map((op) => (typeof op === "number" ? (texts[op] ?? "") : op));
  const word = TRACES ? "dropout" : "MatMul";
  const found = ops.filter((op) => op.toLowerCase().includes(word.toLowerCase())).length;
  await page.keyboard.press("f");
  await page.getByRole("textbox", { name: /Op name/ }).fill(word);
  await expect
    .poll(() => textOf(page.locator(".memory-breakdown .table-count")))
    .toBe(`${found} of ${ops.length} rows`);
  expect(found).toBeGreaterThan(0);
  await page.getByRole("button", { name: "Clear filters" }).click();
  for (const [label, column] of [
    ["Shape", "shape"],
    ["Data type", "dtype"],
    ["Region type", "region"],
    ["Allocated in", "age"],
    ["Op", "op"],
  ] as const) {
    await page.getByRole("button", { name: /^Group by/ }).click();
    await page.getByRole("menuitemradio", { name: label, exact: true }).click();
    const groups = new Set(then.rows[column]).size;
    await expect
      .poll(() => textOf(page.locator(".memory-breakdown .table-count")))
      .toBe(`${ops.length} rows in ${groups} groups`);
  }
  await page.getByRole("button", { name: /^Group by/ }).click();
  await page.getByRole("menuitemradio", { name: "None", exact: true }).click();
  await page.getByRole("button", { name: "Treemap" }).click();
  const tiles = page.locator(".memory-tile");
  await tiles.first().waitFor();
  const areaOf = async (element: Locator) => {
    const { width, height } = (await element.boundingBox())!;
    return width * height;
  };
  const most = Math.max(...then.rows.allocated_bytes.map(Number));
  const room = page.locator(".memory-tiles");
  await expect
    .poll(async () => (await areaOf(tiles.first())) / (await areaOf(room)))
    .toBeCloseTo(most / then.in_use_bytes, 1);
  await tiles.first().focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await expect.poll(() => parameter(page, "f.op")).toMatch(/^=/);
  await expect.poll(() => parameter(page, "map")).toBe("1");
});

test("a row leads to the allocations of its op in the trace viewer", async () => {
  const page = await show(RUN, { sort: "op" });
  const { breakdown: then, texts } = await answer(RUN);
  const names = then.rows.op.filter((_, row) => /step|earlier/.test(String(then.rows.age[row])));
  const name = String(typeof names[0] === "number" ? texts[names[0]] : names[0]);
  await page.keyboard.press("f");
  await page.getByRole("textbox", { name: /Op name/ }).fill(`=${name}`);
  const counted = page.locator(".memory-breakdown .table-count");
  await expect.poll(() => textOf(counted)).toMatch(/^\d+ of /);
  await settled(page);
  await breakdown(page).locator(".grid-body .grid-row").first().dblclick();
  await breakdown(page).getByRole("link", { name: "Show in the trace viewer" }).click();
  await page.waitForURL(/tool=trace_viewer/);
  await expect.poll(() => parameter(page, "q")).toBe(`arg:tf_op=${name}`);
  await page
    .getByText(/\d hits?|of \d/)
    .first()
    .waitFor();
});

test("memories as small pictures: a click chooses", async () => {
  const page = await show(RUN);
  const { memory_ids, chosen } = await answer(RUN);
  const small = page.locator(".memory-multiple");
  await expect.poll(() => small.count()).toBe(memory_ids.length);
  await expect
    .poll(() => page.locator('.memory-multiple[aria-pressed="true"]').getAttribute("title"))
    .toBe(memory_ids[chosen].id);
  const other = memory_ids[(chosen + 1) % memory_ids.length];
  await page.locator(`.memory-multiple[title="${other.id}"]`).click();
  await expect.poll(() => parameter(page, "memory_id")).toBe(other.id);
  await settled(page);
  await eventually(async () => expectNumber((await facts(page)).Allocations, other.allocations));
});

test("several hosts: memories of all, and of those that are chosen", async () => {
  const page = await show("memory");
  const { memory_ids } = await answer("memory");
  expect(memory_ids.map(({ id }) => id).toSorted()).toEqual([
    "worker-0: GPU_0_bfc",
    "worker-0: gpu_host_bfc",
    "worker-1: GPU_0_bfc",
  ]);
  await page.getByRole("button", { name: /^Hosts/ }).click();
  await page.getByRole("option", { name: /worker-1/ }).click();
  await page.keyboard.press("Escape");
  await expect
    .poll(() => textOf(page.locator(".memory-picker .picker-value")))
    .toMatch(/^(worker-1: )?GPU_0_bfc$/);
});

test("steps and leaks; names of ops are text", async () => {
  const page = await show("memory");
  const { leaks, steps } = await answer("memory");
  const list = page.getByRole("table", { name: "Memory by step" });
  await expect.poll(() => list.locator("tbody tr").count()).toBe(steps.label.length);
  expect(leaks.map(({ op }) => op)).toContain("log/Concat");
  const leak = page.locator(".memory-leaks tbody tr", { hasText: "log/Concat" });
  await eventually(async () => expectBytes(await textOf(leak.locator("td").first()), GIB / 4));
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  await breakdown(page).getByText("<img src=x").first().waitFor();
});

test("the address holds everything", async () => {
  const memory = await answer("memory_many");
  const view = {
    memory_id: memory.memory_ids[0].id,
    at_ps: String(memory.timeline.time_ps[100]),
    from_ps: "1000000000",
    to_ps: "20000000000",
    hide: "free.fragmentation",
    sort: "op",
    "f.op": "layer_",
    group: "dtype",
  };
  const page = await show("memory_many", view);
  const then = await answer("memory_many", { at_ps: view.at_ps });
  await expect.poll(() => textOf(instant(page))).toContain("Back to the peak");
  await eventually(async () =>
    expectBytes(await textOf(instant(page)), then.breakdown.in_use_bytes),
  );
  const state = async () => [
    await textOf(page.locator(".memory-breakdown .table-count")),
    await textOf(page.locator(".memory-drawn")),
    await textOf(instant(page)),
    await page.locator('.step-legend button[aria-pressed="false"]').allTextContents(),
  ];
  await settled(page);
  const before = await state();
  expect(before[3]).toEqual(["Free", "Fragmentation"]);
  await page.reload();
  await settled(page);
  await expect.poll(state).toEqual(before);
  for (const [name, value] of Object.entries(view)) expect(parameter(page, name)).toBe(value);
});

test("the timeline as a table", async () => {
  const page = await show(RUN);
  const { timeline } = await answer(RUN);
  await page.getByRole("button", { name: "Menu of “Memory timeline”" }).click();
  await page.getByRole("menuitem", { name: "As table" }).click();
  const table = page.getByRole("treegrid", { name: "Memory timeline" });
  await table.getByRole("row").nth(1).waitFor();
  await expect
    .poll(() => table.getAttribute("aria-rowcount"))
    .toBe(String(timeline.time_ps.length + 2));
  await page.getByRole("button", { name: "Menu of “Memory timeline”" }).click();
  await page.getByRole("menuitem", { name: "As chart" }).click();
  await page.locator(".memory-frame canvas").waitFor();
});

test("the timeline is saved as SVG, PNG and CSV", async () => {
  const page = await show(RUN);
  for (const kind of ["SVG", "PNG", "CSV"]) {
    await page.getByRole("button", { name: "Menu of “Memory timeline”" }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: `Save as ${kind}` }).click();
    expect((await download).suggestedFilename()).toMatch(
      new RegExp(`timeline\\.${kind.toLowerCase()}$`),
    );
  }
});

test("without memory events it says why", async () => {
  // The answer that there are none.
  const { page } = await runs.open("jax_cpu_training", {}, { forgives: /status of 4\d\d/ });
  const main = page.getByRole("main");
  await main
    .getByText(/No allocation was recorded/)
    .first()
    .waitFor();
});

test("12,000 events are a small answer, and soon there", async () => {
  const { page, received } = await runs.open("memory_many", {}, { isFresh: true });
  await settled(page);
  const bytes = () => received(/\/data\?.*tag=memory_profile/);
  await expect.poll(bytes).toBeGreaterThan(10_000);
  expect(await bytes()).toBeLessThan(500_000);
  const work = await workOf(page, async () => {
    await page.reload();
    await settled(page);
  });
  expect(work).toBeLessThan(2000);
});

describe.each(LOOKS)("at $width × $height, dark: $dark", (look) => {
  test("looks right", async () => {
    for (const [run, view] of [
      [RUN, {}],
      ["memory", { map: "1" }],
      ["memory_many", { at_ps: "20000000000" }],
    ] as const) {
      const page = await show(run, view, look);
      await expectGoodLooks(page);
      await release(page);
    }
  });
});
