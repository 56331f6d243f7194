/** Instructions of programs: the table of them, and the roofline, on recorded runs. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { View } from "../../src/base/url_state";
import { settled } from "../harness/browser";
import { expectGoodLooks, FIRST_LOOK } from "../harness/looks";
import { addressOf, ask, type Table, TRACES } from "../harness/servers";
import { server } from "../harness/shared_server";
import { ownPages } from "../harness/watched_browser";

const open = ownPages();
const grid = (page: Page) => page.getByRole("treegrid").first();
const rowCount = async (page: Page) => Number(await grid(page).getAttribute("aria-rowcount")) - 2;
const chart = (page: Page) => page.getByRole("slider", { name: /under their roofs/ });
const RUN = "jax_cpu_training";

async function show(run: string, tool: string, view: View = {}, options = {}) {
  const opened = await open(addressOf(server, run, tool, view), options);
  await grid(opened.page).getByRole("row").nth(1).waitFor();
  await settled(opened.page);
  return opened;
}

function column(table: Table, id: string) {
  return table.columns[table.cols.findIndex((col) => col.id === id)] ?? [];
}

describe("HLO op stats", () => {
  test.each([["framework_op_stats", RUN], ...(TRACES ? [["kernel_stats", "amd"]] : [])])(
    "has the instructions of an op of %s",
    async (tool, run) => {
      const { page, problems } = await show(run, tool, { group: "" });
      await grid(page).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: "Show its instructions" }).click();
      await expect.poll(() => page.url()).toContain("tool=hlo_stats");
      await expect.poll(() => rowCount(page)).toBeGreaterThan(0);
      const table = await ask<Table>(server, run, "hlo_stats");
      expect(await rowCount(page)).toBeLessThan(column(table, "rank").length);
      expect(problems).toEqual([]);
    },
  );

  test("has a row for each instruction, and groups of them by category", async () => {
    const { page, problems } = await show(RUN, "hlo_stats");
    const table = await ask<Table>(server, RUN, "hlo_stats");
    const names = column(table, "hlo_op_name").map(String);
    await expect.poll(() => rowCount(page)).toBe(names.length);
    await expect.poll(() => grid(page).getByRole("row").nth(1).textContent()).toContain(names[0]);
    await page.getByRole("button", { name: /^Group by/ }).click();
    await page.getByRole("menuitemradio", { name: "Category", exact: true }).click();
    const categories = new Set(column(table, "category"));
    await expect.poll(() => rowCount(page)).toBe(categories.size);
    expect(problems).toEqual([]);
  });

  test("a slice of the pie filters the table", async () => {
    const { page, problems } = await show(RUN, "hlo_stats");
    const table = await ask<Table>(server, RUN, "hlo_stats");
    const pie = page.getByRole("region", { name: "Self time by category" });
    await pie.getByRole("button", { name: /^convolution/ }).click();
    const expected = column(table, "category").filter((name) => name === "convolution").length;
    await expect.poll(() => rowCount(page)).toBe(expected);
    expect(problems).toEqual([]);
  });

  test("a row opens to its figures, its source and its events", async () => {
    const { page, problems } = await show(RUN, "hlo_stats");
    await grid(page).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Show in the trace viewer" }).first().click();
    await page
      .getByText(/\d+ (events|matches)/)
      .first()
      .waitFor();
    expect(page.url()).toContain("trace_viewer");
    expect(problems).toEqual([]);
  });

  test("looks well", async () => {
    const { page, problems } = await show(TRACES ? "amd" : RUN, "hlo_stats", {}, FIRST_LOOK);
    await expectGoodLooks(page);
    expect(problems).toEqual([]);
  });
});

describe("the roofline", () => {
  test("points are walked by keys, and one opens its row", async () => {
    const { page, problems } = await show(RUN, "roofline_model");
    const [records] = await ask(server, RUN, "roofline_model", { per: "op", feeds: "1" });
    const names = column(records, "operation").map(String);
    const rates = column(records, "measured_flop_rate");
    const largest = names.find((_, row) => row > 0 && Number(rates[row]) > 0) ?? "";
    await chart(page).focus();
    await page.keyboard.press("ArrowRight");
    await expect
      .poll(() => chart(page).getAttribute("aria-valuetext"))
      .toMatch(new RegExp(`^${largest}, `));
    await page.locator(".scatter-card", { hasText: largest }).waitFor();
    await grid(page).locator(".highlighted", { hasText: largest }).waitFor();
    await page.keyboard.press("Enter");
    await grid(page).locator('[aria-expanded="true"]', { hasText: largest }).waitFor();
    expect(problems).toEqual([]);
  });

  test("what has no place is listed beside the chart, and opens its row", async () => {
    const { page, problems } = await show(RUN, "roofline_model");
    const absent = page.locator(".roofline-absent").first();
    await expect
      .poll(() => absent.textContent())
      .toMatch(/Not drawn: \d+ ops, [\d.]+ % of the time/);
    const first = absent.getByRole("button").first();
    const name = (await first.textContent()) ?? "";
    await first.click();
    await grid(page).locator('[aria-expanded="true"]', { hasText: name }).waitFor();
    expect(problems).toEqual([]);
  });

  test("shows programs, and the address remembers it", async () => {
    const { page, problems } = await show(RUN, "roofline_model");
    await page.getByRole("button", { name: "Programs", exact: true }).click();
    const [records] = await ask(server, RUN, "roofline_model", { per: "program", feeds: "1" });
    await expect.poll(() => rowCount(page)).toBe(column(records, "operation").length - 1);
    await expect.poll(() => page.url()).toContain("per=program");
    expect(problems).toEqual([]);
  });

  test("shows steps, each with what ran in it", async () => {
    const { page, problems } = await show("programs", "roofline_model");
    await page.getByRole("button", { name: "Steps", exact: true }).click();
    const [records] = await ask(server, "programs", "roofline_model", { per: "step" });
    const steps = column(records, "operation").slice(1).map(String);
    expect(steps).toEqual(["train 0", "train 1", "train 2"]);
    await expect.poll(() => rowCount(page)).toBe(steps.length);
    await grid(page)
      .getByRole("row", { name: /train 1/ })
      .waitFor();
    await page.getByText(/Of the steps’ time, 100\.0 % is bound by/).waitFor();
    expect(problems).toEqual([]);
  });

  test("without complete steps it says so, and leads back to the ops", async () => {
    const run = "programs_without_steps";
    const { page, problems } = await open(
      addressOf(server, run, "roofline_model", { per: "step" }),
    );
    await page.getByText("No step was recorded completely.").waitFor();
    expect(await rowCount(page)).toBe(0);
    await page.getByRole("button", { name: "Ops", exact: true }).click();
    const [records] = await ask(server, run, "roofline_model", { per: "op", feeds: "1" });
    await expect.poll(() => rowCount(page)).toBe(column(records, "operation").length - 1);
    // Who did not ask for steps is not offered any.
    await page.getByRole("button", { name: "Steps", exact: true }).waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });

  test("a box zooms, a double click shows all points again", async () => {
    const { page, problems } = await show(RUN, "roofline_model");
    const place = (await chart(page).boundingBox())!;
    await page.mouse.move(place.x + 200, place.y + 80);
    await page.mouse.down();
    await page.mouse.move(place.x + 400, place.y + 200, { steps: 4 });
    await page.mouse.up();
    await page.getByRole("button", { name: "All points" }).waitFor();
    await chart(page).dblclick({ position: { x: 90, y: 60 } });
    await page.getByRole("button", { name: "All points" }).waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });

  test("is saved as a picture, and shown as a table", async () => {
    const { page, problems } = await show(RUN, "roofline_model");
    const menu = page.getByRole("button", { name: "Menu of “Ops under their roofs”" });
    await menu.click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "Save as SVG" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^roofline.*\.svg$/);
    await menu.click();
    await page.getByRole("menuitem", { name: "As table" }).click();
    await page.getByRole("treegrid", { name: "Points of the roofline" }).waitFor();
    expect(problems).toEqual([]);
  });

  test.runIf(TRACES)("names the peaks of a GPU and their sources", async () => {
    const { page, problems } = await show("amd", "roofline_model");
    await page.getByText("Peaks of AMD GPU and their sources").click();
    await page.getByRole("row", { name: /^f16 2\.52 PFLOP\/s 256 compute units/ }).waitFor();
    await page.getByText(/13\.\d % of its compute peak/).waitFor();
    expect(problems).toEqual([]);
  });

  test("looks well", async () => {
    const { page, problems } = await show(TRACES ? "amd" : RUN, "roofline_model", {}, FIRST_LOOK);
    await expectGoodLooks(page);
    expect(problems).toEqual([]);
  });
});
