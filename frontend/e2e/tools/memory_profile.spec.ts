/** The memory page: figures, what was in use at an instant, steps and leaks. */
import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { eventually, release, textOf, workOfReload } from "../harness/browser";
import { brokenTexts, expectGoodLooks, FIRST_LOOK } from "../harness/looks";
import { expectNumber, expectTime } from "../harness/readings";
import { TRACES } from "../harness/servers";
import {
  breakdown,
  expectBytes,
  facts,
  GIB,
  instant,
  memoryRuns,
  parameter,
  RUN,
  settled,
} from "./memory_page";

const runs = memoryRuns();
const { answer, show } = runs;

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
  expect(await workOfReload(page, settled)).toBeLessThan(2000);
});

test("looks right", async () => {
  for (const [run, view] of [
    [RUN, {}],
    ["memory", { map: "1" }],
    ["memory_many", { at_ps: "20000000000" }],
  ] as const) {
    const page = await show(run, view, FIRST_LOOK);
    await expectGoodLooks(page);
    await release(page);
  }
});
