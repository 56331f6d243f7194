/** What surrounds the timeline: search, drawer, tracks, filters, list, and an address that holds it all. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { faults, launch, open, overflowsSideways, SIZES, textOf } from "./browser";
import { addressOf, ROOT, type Server, serve, temporaryFolder } from "./servers";

const TOOL = "trace_viewer";
const COMPUTE = "Stream #1(Compute)";
/** All four steps, see make_timeline_run.py. */
const ALL = { from_ms: "0", to_ms: "0.21" };

const folder = temporaryFolder();
let browser: Browser;
let server: Server;
let problems: string[] = [];

beforeAll(async () => {
  const script = join(import.meta.dirname, "make_timeline_run.py");
  const kinds = ["drawn", "hosts", "cut", "hostile", "sparse"];
  execFileSync(process.env.TBPROF_PYTHON ?? "python", [script, folder.path, ...kinds], {
    cwd: ROOT,
  });
  browser = await launch();
  server = await serve(folder.path);
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  expect(problems.splice(0)).toEqual([]);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  folder.remove();
});

type View = Readonly<Record<string, string>>;

/** A page of a run; of the drawn one with the tracks that are worked out of its events. */
async function show(
  view: View = ALL,
  run = "drawn",
  options: Parameters<typeof open>[2] = {},
): Promise<Page> {
  const first = () => localStorage.setItem("tbprof.trace.hint", "seen");
  const opened = await open(browser, addressOf(server, run, TOOL, view), { first, ...options });
  problems = opened.problems;
  const { page } = opened;
  await page
    .locator(".trace-status", {
      hasText: run === "hosts" ? "indexed" : /[1-9][\d,]* (drawn|listed)/,
    })
    .waitFor({ timeout: 50_000 });
  if (run === "drawn" && !view.tracks)
    await page.locator('[data-lane="d5@host0"]').waitFor({ timeout: 50_000 });
  return page;
}

const parameter = (page: Page, name: string) =>
  new URLSearchParams(new URL(page.url()).hash.slice(1)).get(name);
const expectParameter = (page: Page, name: string, value: string | null) =>
  expect.poll(() => parameter(page, name)).toBe(value);
const field = (page: Page) => page.getByRole("textbox", { name: "Search events" });
const count = (page: Page) => page.getByTitle("List the hits");
const drawer = (page: Page) => page.getByRole("region", { name: "Details" });
const tree = (page: Page) => page.getByRole("tree");
const tab = (page: Page, name: string) => drawer(page).getByRole("tab", { name });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const expectCount = (page: Page, text: string | RegExp) =>
  expect.poll(() => textOf(count(page))).toMatch(text);

async function drawn(page: Page): Promise<number> {
  const text = await textOf(page.locator(".trace-status"));
  return Number(/([\d,]+) drawn/.exec(text)?.[1].replaceAll(",", ""));
}

/** The name in the drawer, and when the event starts. */
async function expectEvent(page: Page, name: string, start: string): Promise<void> {
  await expect.poll(() => fact(page, "Start")).toBe(start);
  expect(await textOf(drawer(page).locator(".trace-event-name > code").first())).toBe(name);
}

async function fact(page: Page, label: string): Promise<string> {
  const found = drawer(page).locator(".trace-facts > div", { hasText: label }).locator("dd");
  return (await found.count()) > 0 ? textOf(found.first()) : "";
}

/** The cells of a table, row by row. */
function cells(page: Page, label: string): Promise<string[][]> {
  return page
    .getByRole("grid", { name: label })
    .locator(".trace-rows-body [role=row]")
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...row.querySelectorAll("[role=gridcell]")].map((cell) => cell.textContent ?? ""),
      ),
    );
}

/** Names of the lanes from top to bottom. */
function lanes(page: Page): Promise<string[]> {
  return tree(page)
    .getByRole("treeitem")
    .evaluateAll((items) =>
      items
        .map((item) => ({
          top: item.getBoundingClientRect().top,
          name: item.querySelector(".trace-label-name")?.textContent ?? "",
        }))
        .sort((a, b) => a.top - b.top)
        .map(({ name }) => name),
    );
}

test("search counts, goes from hit to hit, and is cleared", async () => {
  const page = await show();
  await field(page).fill("gemm");
  await expectCount(page, "8 hits · 8 in view");
  await expectParameter(page, "q", "gemm");
  await field(page).press("Enter");
  await button(page, "Next hit").click();
  await expect
    .poll(() => textOf(page.locator("#trace-timeline > .unseen")))
    .toBe("Selected: gemm_kernel");
  await count(page).click();
  const hits = await cells(page, "Search hits");
  expect(hits.map(([at]) => at)).toEqual(
    ["12 µs", "62 µs", "112 µs", "162 µs"].flatMap((at) => [at, at]),
  );
  expect(hits[0].slice(1, 3)).toEqual(["gemm_kernel", "24.0 µs"]);
  expect(await textOf(tab(page, "Search hits"))).toBe("Search hits (8)");
  await page
    .getByRole("grid", { name: "Search hits" })
    .getByText("112 µs", { exact: true })
    .first()
    .click();
  const event = parameter(page, "event");
  await expect.poll(() => parameter(page, "event")).not.toBe(event);
  await tab(page, "Event").click();
  await expectEvent(page, "gemm_kernel", "112 µs");
  await field(page).focus();
  // As fast as keys can be: both count.
  await field(page).press("Enter");
  await field(page).press("Enter");
  await expectEvent(page, "gemm_kernel", "162 µs");
  await field(page).press("Shift+Enter");
  await expectEvent(page, "gemm_kernel", "112 µs");
  await button(page, "Clear the search").click();
  await expectParameter(page, "q", null);
  await expect.poll(() => count(page).isHidden()).toBe(true);
  expect(await field(page).inputValue()).toBe("");
});

test("search heeds case and patterns, and says at once what is none", async () => {
  const page = await show();
  await field(page).fill("GEMM");
  await expectCount(page, "8 hits");
  await button(page, "Match case").first().click();
  await expectCount(page, "no hits");
  await expectParameter(page, "case", "1");
  await button(page, "Match case").first().click();
  await expectCount(page, "8 hits");
  await button(page, "Regular expression").first().click();
  await field(page).fill("^(gemm|relu)_k");
  await expectCount(page, "12 hits");
  await field(page).fill("(gemm");
  const alert = page.locator(".trace-search [role=alert]");
  await expect.poll(() => textOf(alert)).toContain("Not a regular expression");
  expect(await field(page).getAttribute("aria-invalid")).toBe("true");
  await field(page).fill("gemm$|relu_kernel$");
  await expectCount(page, "4 hits");
  expect(await alert.count()).toBe(0);
  await button(page, "Regular expression").first().click();
  for (const [query, found] of [
    ["whole:relu_kernel", 4],
    ["arg:correlation_id=102", 2],
    ["category:copies", 4],
    ["source:nowhere", 0],
  ] as const) {
    await field(page).fill(query);
    await expectCount(page, found === 0 ? "no hits" : new RegExp(`^${found} hits`));
  }
});

test("the next hit is revealed, whatever hides it", async () => {
  const page = await show({ from_ms: "0", to_ms: "0.02", fold: "s/device:GPU:0@host0" });
  await tree(page).focus();
  await page.keyboard.press("Home");
  await field(page).fill("relu_kernel");
  await expectCount(page, /^4 hits · 0 in view/);
  await field(page).press("Enter");
  await expect.poll(() => Number(parameter(page, "to_ms"))).toBeGreaterThan(0.04);
  await expectCount(page, /^4 hits · [1-4] in view/);
});

test("an event tells its arguments, name, stack, likes and flows, and leads there", async () => {
  const page = await show({ ...ALL, q: "cuLaunch" });
  await expectCount(page, "4 hits");
  await page.getByRole("grid", { name: "Search hits" }).getByText("55 µs", { exact: true }).click();
  await tab(page, "Event").click();
  await expectEvent(page, "cuLaunchKernel", "55 µs");
  expect(await fact(page, "Duration")).toBe("4.00 µs");
  expect(await fact(page, "Category")).toBe("launch");
  expect(await fact(page, "Track")).toBe("python");
  const pane = (name: string) => drawer(page).getByRole("region", { name, exact: true });
  expect(await textOf(pane("Arguments"))).toContain("101");
  expect(await pane("Within").getByRole("listitem").allTextContents()).toEqual([
    "train",
    "dense/MatMul:MatMul",
    "cuLaunchKernel",
  ]);
  const same = pane("Events of the same name");
  expect(await same.locator("dd").allTextContents()).toEqual([
    "4",
    "16.0 µs",
    "4.00 µs",
    "4.00 µs",
    "4.00 µs",
  ]);
  await same.getByRole("button", { name: "Next" }).click();
  await expectEvent(page, "cuLaunchKernel", "105 µs");
  await pane("Flows").getByText("launches", { exact: true }).waitFor();
  await pane("Flows").getByRole("button", { name: "gemm_kernel" }).click();
  await expectEvent(page, "gemm_kernel", "112 µs");
  await pane("Flows").getByText("launched by").waitFor();
  await pane("Flows").getByRole("button", { name: "cuLaunchKernel" }).click();
  await expectEvent(page, "cuLaunchKernel", "105 µs");
  await pane("Within").getByRole("button", { name: "dense/MatMul" }).click();
  await expectEvent(page, "dense/MatMul:MatMul", "102 µs");
  expect(await fact(page, "Self")).toBe("15.0 µs");
  expect(await textOf(pane("Arguments"))).toContain("a note of the op");
  await drawer(page).locator(".trace-event-name a").first().waitFor();
  await same.getByRole("button", { name: "Show all" }).click();
  await expectParameter(page, "q", "whole:dense/MatMul:MatMul");
});

test("a range is added up by name, category and track", async () => {
  const page = await show({ ...ALL, range: "0.05..0.1", tab: "selection" });
  await page.getByRole("grid", { name: "Events by name" }).waitFor();
  const sums = drawer(page).locator(".trace-sums");
  expect(await textOf(sums)).toMatch(/13 events in 50.0 µs.*busy 50.0 µs \(100.0 %\), idle 0 µs/s);
  const rows = await cells(page, "Events by name");
  // Two devices' kernels; copies from 10 to 60 and from 60 to 110, as far as they are inside.
  expect(numbersOf(rows, "gemm_kernel")).toEqual([2, 42, 42, 21, 18, 24]);
  expect(numbersOf(rows, "AsyncCopy").slice(0, 2)).toEqual([2, 50]);
  expect(numbersOf(rows, "train").slice(0, 3)).toEqual([1, 48, 10]);
  expect(numbersOf(rows, "dense/MatMul:MatMul").slice(0, 3)).toEqual([1, 20, 15]);
  await drawer(page).getByText("by track").click();
  await expectParameter(page, "by", "track");
  await expect
    .poll(async () => (await cells(page, "Events by track")).map(([name]) => name).join())
    .toContain("tf_data_private_threadpool/2");
  await drawer(page).getByText("by category").click();
  await page.getByRole("grid", { name: "Events by category" }).waitFor();
  await expect
    .poll(async () => numbersOf(await cells(page, "Events by category"), "input").slice(0, 2))
    .toEqual([1, 16]);
  await tab(page, "Statistics").click();
  await expect.poll(() => textOf(sums)).toMatch(/48 events in 210 µs/);
});

/** The numbers of a row of sums, without what it is and its share. */
function numbersOf(rows: readonly string[][], key: string): number[] {
  const row = rows.find(([name]) => name === key) ?? [];
  return row
    .slice(1, -1)
    .filter((cell) => /^[\d.,]+$/.test(cell))
    .map(Number);
}

test("sections fold to their busy share; tracks are pinned, hidden, moved and filtered", async () => {
  const page = await show();
  await tree(page).focus();
  await page.keyboard.press("Home");
  const before = await lanes(page);
  expect(before).toContain(COMPUTE);
  await page.keyboard.press("ArrowLeft");
  const section = tree(page).getByRole("treeitem", { name: /^\/device:GPU:0,/ });
  await expect.poll(() => section.getAttribute("aria-expanded")).toBe("false");
  // 152 of 210 µs.
  expect(await textOf(section)).toContain("72.4 % busy");
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => lanes(page)).toEqual(before);
  const active = () =>
    tree(page).evaluate((element) => {
      const id = element.getAttribute("aria-activedescendant");
      return id === null ? "" : (document.getElementById(id)?.getAttribute("aria-label") ?? "");
    });
  const goToLane = async (name: string) => {
    await page.keyboard.press("Home");
    for (let at = 0; at < 20 && !(await active()).startsWith(name); at++)
      await page.keyboard.press("ArrowDown");
    expect(await active()).toContain(name);
  };
  await goToLane("python");
  await page.keyboard.press("p");
  await expectParameter(page, "pin", "e3@host0");
  await tree(page)
    .getByRole("treeitem", { name: /^python.*pinned$/ })
    .waitFor();
  expect((await lanes(page))[0]).toBe("python");
  await goToLane("copies");
  await page.keyboard.press("Alt+ArrowDown");
  await expect
    .poll(async () => (await lanes(page)).slice(-2))
    .toEqual(["tf_data_private_threadpool/2", "copies"]);
  expect(parameter(page, "order")).not.toBe("");
  await goToLane("copies");
  await page.keyboard.press("h");
  await expectParameter(page, "hide", "e4@host0");
  expect(await lanes(page)).not.toContain("copies");
  await page.locator(".trace-hidden").click();
  await page.getByRole("button", { name: "Show all" }).click();
  await expect.poll(() => lanes(page)).toContain("copies");
  await page.getByRole("textbox", { name: "Filter tracks by name" }).fill("stream");
  await expect.poll(() => lanes(page)).not.toContain("copies");
  expect((await lanes(page)).filter((name) => name.startsWith("Stream")).length).toBe(3);
  await page.getByRole("textbox", { name: "Filter tracks by name" }).fill("no such track");
  // What is pinned stays.
  await expect.poll(() => lanes(page)).toEqual(["python"]);
  await tree(page).focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("p");
  await page.getByText("No track has “no such track” in its name.").waitFor();
});

test("colours and filters change what is drawn", async () => {
  const page = await show();
  const all = await drawn(page);
  const timeline = page.locator("#trace-timeline");
  let picture = await timeline.screenshot();
  for (const color of ["Category", "Step", "Group: compute, copies, input, …"]) {
    await page.getByTitle(/^Color: /).click();
    await page.getByRole("menuitemradio", { name: color }).click();
    await expect.poll(async () => (await timeline.screenshot()).equals(picture)).toBe(false);
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
  await tab(page, "Selection").click();
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
  const address = page.url();
  const before = await said(page);
  await page.context().close();
  const opened = await open(browser, address);
  problems = opened.problems;
  await expect.poll(() => said(opened.page), { timeout: 20_000 }).toEqual(before);
  expect(opened.page.url()).toBe(address);
  for (const [name, value] of Object.entries(state))
    if (!name.endsWith("_ms")) expect(parameter(opened.page, name), name).toBe(value);
});

test("the card follows the pointer; the line at the bottom counts", async () => {
  const page = await show({ from_ms: "0", to_ms: "0.05" });
  const status = await textOf(page.locator(".trace-status"));
  expect(status).toContain("48 events in the file");
  expect(status).toContain("48 indexed");
  expect(status).toContain("50.0 µs across");
  const box = (await page.locator("#trace-timeline").boundingBox())!;
  const lane = (await page.locator('[data-lane="e0@host0"]').boundingBox())!;
  await page.mouse.move(box.x + box.width * (20 / 50), lane.y + 9);
  const card = page.locator(".trace-hover");
  await expect.poll(() => textOf(card)).toMatch(/gemm_kernel.*24\.0 µs.*12 µs/s);
  await page.mouse.move(box.x + box.width * (49 / 50), lane.y + 9);
  await expect.poll(() => card.count()).toBe(0);
});

test("a damaged file says so, and shows what is left", async () => {
  const page = await show({}, "cut");
  await page
    .getByText(/the file ends inside it/)
    .first()
    .waitFor();
  expect(await drawn(page)).toBeGreaterThan(5);
  expect(await textOf(page.locator(".trace-status"))).toContain("34 events in the file");
});

test("several hosts are collapsed strips until one is opened", async () => {
  const page = await show({ hosts: "worker-0,worker-1,worker-2" }, "hosts");
  await expect
    .poll(() => lanes(page), { timeout: 20_000 })
    .toEqual(["worker-0", "worker-1", "worker-2"]);
  expect(await textOf(page.locator(".trace-status"))).toContain(
    "144 events in the files of 3 hosts",
  );
  const host = tree(page).getByRole("treeitem", { name: /^worker-1,/ });
  expect(await textOf(host)).toMatch(/\d % busy/);
  await tree(page).focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect.poll(() => lanes(page)).toContain("/device:GPU:0");
  expect(await host.getAttribute("aria-expanded")).toBe("true");
  expect(await faults(page)).toEqual([]);
});

test("names that are markup are text", async () => {
  const page = await show({ q: "onerror" }, "hostile");
  await expectCount(page, /^10 hits/);
  expect(await textOf(page.locator(".trace-labels"))).toContain("<img src=x onerror");
  await field(page).focus();
  await field(page).press("Enter");
  await tab(page, "Event").click();
  await expect
    .poll(() => textOf(drawer(page).locator(".trace-event-name > code").first()))
    .toContain("<script>");
  await tab(page, "Statistics").click();
  await page.getByRole("grid", { name: "Events by name" }).waitFor();
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  expect(await page.locator("img[src=x], main script").count()).toBe(0);
});

test("years of nothing between events leave them to be seen", async () => {
  const page = await show({}, "sparse");
  expect(await drawn(page)).toBeGreaterThan(0);
  await button(page, "All").click();
  await expect.poll(() => drawn(page)).toBeGreaterThanOrEqual(2);
  await field(page).fill("late");
  await expectCount(page, /^50 hits/);
  await field(page).press("Enter");
  await expect.poll(() => drawn(page)).toBeGreaterThan(0);
  await expect.poll(() => textOf(page.locator("#trace-timeline > .unseen"))).toBe("Selected: late");
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
  expect((await cells(page, "Events of tf_data_private_threadpool/2"))[1].slice(0, 3)).toEqual([
    "50 µs",
    "Iterator::Root::Map",
    "16.0 µs",
  ]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expectEvent(page, "Iterator::Root::Map", "50 µs");
  await page.keyboard.press("/");
  expect(await field(page).evaluate((one) => one === document.activeElement)).toBe(true);
  await page.keyboard.type("gemm");
  await page.keyboard.press("Enter");
  await expectCount(page, /^8 hits/);
  await expect.poll(() => parameter(page, "event")).toMatch(/^e[0-7]@host0$|^e1\d@host0$/);
});

describe.each(SIZES)("at $width × $height", (size) => {
  test.each([false, true])("looks right (dark: %s)", async (dark) => {
    const views: View[] = [
      { event: "e0@host0" },
      { range: "0.05..0.1", tab: "selection" },
      { as: "list" },
    ];
    for (const view of views) {
      const page = await show({ ...ALL, ...view }, "drawn", { ...size, dark });
      if ("event" in view) await expect.poll(() => fact(page, "Start")).not.toBe("");
      if ("range" in view) await page.getByRole("grid", { name: "Events by name" }).waitFor();
      expect(await faults(page), JSON.stringify(view)).toEqual([]);
      expect(await overflowsSideways(page)).toBe(false);
      await page.context().close();
    }
  });
});
