/** Tracks, filters and the list, and an address that holds it all. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { release, settled, textOf } from "../harness/browser";
import { expectGoodLooks, FIRST_LOOK, overflowsSideways } from "../harness/looks";
import {
  ALL,
  cells,
  count,
  drawn,
  expectCount,
  expectEvent,
  expectParameter,
  fact,
  field,
  lanes,
  openTab,
  panesOfRuns,
  parameter,
  tree,
} from "./trace_panes_page";
import type { View } from "./trace_runs";

const { show, openAt } = panesOfRuns();

const COMPUTE = "Stream #1(Compute)";

test("sections fold to their busy share; tracks are pinned, hidden, moved and filtered", async () => {
  const page = await show();
  await tree(page).focus();
  await page.keyboard.press("Home");
  await settled(page);
  const before = await lanes(page);
  expect(before).toContain(COMPUTE);
  await page.keyboard.press("ArrowLeft");
  const section = tree(page).getByRole("treeitem", { name: /^\/device:GPU:0,/ });
  await expect.poll(() => section.getAttribute("aria-expanded")).toBe("false");
  // 152 of 210 µs.
  await expect.poll(() => textOf(section)).toContain("72.4 % busy");
  // Of what is in view, as the strip beside it shows.
  await page.keyboard.press("w");
  await expect.poll(() => textOf(section)).not.toContain("72.4 % busy");
  await expect.poll(() => textOf(section)).toMatch(/\d % busy/);
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => lanes(page)).toEqual(before);
  const active = () =>
    tree(page).evaluate((element) => {
      const id = element.getAttribute("aria-activedescendant");
      return id === null ? "" : (document.getElementById(id)?.getAttribute("aria-label") ?? "");
    });
  const goToLane = async (name: string) => {
    await page.keyboard.press("Home");
    for (let index = 0; index < 20 && !(await active()).startsWith(name); index++)
      await page.keyboard.press("ArrowDown");
    await expect.poll(() => active()).toContain(name);
  };
  await goToLane("python");
  await page.keyboard.press("p");
  await expectParameter(page, "pin", "e3@host0");
  await tree(page)
    .getByRole("treeitem", { name: /^python, Host Threads, .*, pinned$/ })
    .waitFor();
  await expect.poll(async () => (await lanes(page))[0]).toBe("python");
  await goToLane("copies");
  await page.keyboard.press("Alt+ArrowDown");
  await expect
    .poll(async () => (await lanes(page)).slice(-2))
    .toEqual(["tf_data_private_threadpool/2", "copies"]);
  await expect.poll(() => parameter(page, "order")).toBeTruthy();
  await goToLane("copies");
  await page.keyboard.press("h");
  await expectParameter(page, "hide", "e4@host0");
  await expect.poll(() => lanes(page)).not.toContain("copies");
  await page.locator(".trace-hidden").click();
  await page.getByRole("button", { name: "Show all" }).click();
  await expect.poll(() => lanes(page)).toContain("copies");
  await page.getByRole("textbox", { name: "Filter tracks by name" }).fill("stream");
  await expect.poll(() => lanes(page)).not.toContain("copies");
  await expect
    .poll(async () => (await lanes(page)).filter((name) => name.startsWith("Stream")).length)
    .toBe(3);
  await page.getByRole("textbox", { name: "Filter tracks by name" }).fill("no such track");
  // What is pinned stays.
  await expect.poll(() => lanes(page)).toEqual(["python"]);
  await tree(page).focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("p");
  await page.getByText("No track name contains “no such track”.").waitFor();
});

test("colors and filters change what is drawn", async () => {
  const page = await show();
  await settled(page);
  const all = await drawn(page);
  const timeline = page.locator("#trace-timeline");
  let picture = await timeline.screenshot();
  for (const color of ["Category", "Step", "Group: compute, copies, input, …"]) {
    await page.getByTitle(/^Color: /).click();
    await page.getByRole("menuitemradio", { name: color }).click();
    await expect.poll(async () => (await timeline.screenshot()).equals(picture)).toBe(false);
    await settled(page);
    picture = await timeline.screenshot();
  }
  await expectParameter(page, "color", "group");
  await page.getByTitle("Filter events").click();
  const form = page.getByRole("dialog", { name: "Which events are drawn" });
  await form.getByRole("textbox", { name: "Name" }).fill("gemm");
  await expect.poll(() => drawn(page)).toBe(8);
  await form.getByRole("textbox", { name: "At least this long" }).fill("20 µs");
  await expect.poll(() => drawn(page)).toBe(4);
  await expectParameter(page, "min_us", "20");
  await form.getByRole("button", { name: "Show all events" }).click();
  await expect.poll(() => drawn(page)).toBe(all);
  await form.getByRole("checkbox", { name: "input" }).check();
  await expect.poll(() => drawn(page)).toBe(4);
  await expectParameter(page, "category", "input");
  await page.keyboard.press("Escape");
  await page.locator(".trace-chip").click();
  await expect.poll(() => drawn(page)).toBe(all);
});

test("an address opens the same page elsewhere", async () => {
  const state = {
    from_ms: "0.05",
    to_ms: "0.15",
    range: "0.06..0.09",
    q: "gemm|relu",
    regex: "1",
    color: "category",
    mode: "timing",
    pin: "e0@host0",
    hide: "e4@host0",
    marks: "0.07~here",
    tab: "selection",
    by: "category",
    min_us: "2",
  };
  const page = await show(state);
  await page.getByRole("grid", { name: "Events by category" }).waitFor();
  await field(page).focus();
  await field(page).press("Enter");
  await expect.poll(() => parameter(page, "event")).toMatch(/^e\d+@host0$/);
  await openTab(page, "Selection");
  await expectParameter(page, "tab", "selection");
  await page.getByRole("grid", { name: "Events by category" }).waitFor();
  const said = async (of: Page) => ({
    lanes: await lanes(of),
    table: await cells(of, "Events by category"),
    search: await field(of).inputValue(),
    found: await textOf(count(of)),
    color: await textOf(of.getByTitle(/^Color: /)),
    tool: await of.getByRole("radio", { checked: true }).first().getAttribute("aria-label"),
    status: await textOf(of.locator(".trace-status")),
    selected: await textOf(of.locator("#trace-timeline > .unseen")),
  });
  await expectCount(page, /^16 hits/);
  await settled(page);
  const address = page.url();
  const before = await said(page);
  await release(page);
  const again = await openAt(address);
  await expect.poll(() => said(again)).toEqual(before);
  await settled(again);
  expect(again.url()).toBe(address);
  for (const [name, value] of Object.entries(state))
    if (!name.endsWith("_ms")) expect(parameter(again, name), name).toBe(value);
});

test("the list needs no pointer", async () => {
  const page = await show();
  await tree(page).focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await expectParameter(page, "as", "list");
  const table = page.getByRole("grid", { name: "Events of tf_data_private_threadpool/2" });
  await expect.poll(() => table.getByRole("row").count()).toBe(5);
  await expect.poll(() => table.evaluate((one) => one === document.activeElement)).toBe(true);
  await expect
    .poll(async () => (await cells(page, "Events of tf_data_private_threadpool/2"))[1]?.slice(0, 3))
    .toEqual(["50 µs", "Iterator::Root::Map", "16.0 µs"]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expectEvent(page, "Iterator::Root::Map", "50 µs");
  await page.keyboard.press("/");
  await expect.poll(() => field(page).evaluate((one) => one === document.activeElement)).toBe(true);
  await page.keyboard.type("gemm");
  await page.keyboard.press("Enter");
  await expectCount(page, /^8 hits/);
  await expect.poll(() => parameter(page, "event")).toMatch(/^e[0-7]@host0$|^e1\d@host0$/);
});

test("the hits of a search are listed and counted", async () => {
  const page = await show();
  await field(page).fill("gemm");
  await expectCount(page, /^8 hits/);
  await page.getByRole("button", { name: "List", exact: true }).click();
  await expect.poll(async () => (await cells(page, "Search hits")).length).toBe(8);
  await expect.poll(() => textOf(page.locator(".trace-status"))).toContain("8 listed");
});

test("the keys of the timeline move what is listed", async () => {
  const page = await show({ ...ALL, as: "list", event: "e0@host0", tab: "event" });
  const said = () => textOf(page.locator(".trace-list-head"));
  await expect.poll(said).toContain("Stream #1(Compute) · /device:GPU:0");
  await expect.poll(() => drawnRows(page)).toBe(8);
  await page.keyboard.press("f");
  await expect.poll(said).toContain("28.8 µs from 9.6");
  // What ends or begins at the edge of the view counts, too.
  await expect.poll(() => drawnRows(page)).toBe(2);
  await page.keyboard.press("0");
  await expect.poll(() => drawnRows(page)).toBe(8);
  await page.keyboard.press("w");
  await expect.poll(said).toMatch(/53\.[56] µs from 78/);
  await page.keyboard.press("d");
  await expect.poll(said).toMatch(/53\.[56] µs from 131/);
});

const drawnRows = (page: Page) =>
  page
    .getByRole("grid", { name: /^Events of/ })
    .locator(".trace-rows-body [role=row]")
    .count();

test("looks right", async () => {
  const views: View[] = [
    { event: "e0@host0" },
    { range: "0.05..0.1", tab: "selection" },
    { as: "list" },
  ];
  for (const view of views) {
    const page = await show({ ...ALL, ...view }, "drawn", FIRST_LOOK);
    if ("event" in view) await expect.poll(() => fact(page, "Start")).not.toBe("");
    if ("range" in view) await page.getByRole("grid", { name: "Events by name" }).waitFor();
    await expectGoodLooks(page, JSON.stringify(view));
    await expect.poll(() => overflowsSideways(page)).toBe(false);
    await release(page);
  }
});
