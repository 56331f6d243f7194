/** The search and the drawer: hits, an event, sums of a range, and the card at the pointer. */
import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { eventually, settled, textOf } from "../harness/browser";
import {
  ALL,
  button,
  cells,
  count,
  drawer,
  expectCount,
  expectEvent,
  expectParameter,
  fact,
  field,
  openTab,
  panesOfRuns,
  parameter,
  tab,
  tree,
} from "./trace_panes_page";

const { show } = panesOfRuns();

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
  const hits = () => cells(page, "Search hits");
  await expect
    .poll(async () => (await hits()).map(([at]) => at))
    .toEqual(["12 µs", "62 µs", "112 µs", "162 µs"].flatMap((at) => [at, at]));
  await expect.poll(async () => (await hits())[0].slice(1, 3)).toEqual(["gemm_kernel", "24.0 µs"]);
  await expect.poll(() => textOf(tab(page, "Search hits"))).toBe("Search hits (8)");
  await settled(page);
  const event = parameter(page, "event");
  await page
    .getByRole("grid", { name: "Search hits" })
    .getByText("112 µs", { exact: true })
    .first()
    .click();
  await expect.poll(() => parameter(page, "event")).not.toBe(event);
  await openTab(page, "Event");
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
  await expect.poll(() => field(page).inputValue()).toBe("");
});

test("a tab that is opened while the next hit is looked for stays open", async () => {
  const page = await show({ ...ALL, q: "gemm", tab: "event" });
  await expectCount(page, "8 hits · 8 in view");
  let release = () => {};
  const isOpened = new Promise<void>((done) => {
    release = done;
  });
  await page.route(/timeline_search/, async (route) => {
    await isOpened;
    await route.continue();
  });
  const event = parameter(page, "event");
  await field(page).press("Enter");
  await openTab(page, "Statistics");
  release();
  await expect.poll(() => parameter(page, "event")).not.toBe(event);
  await page.getByRole("grid", { name: "Events by name" }).waitFor();
  expect(await tab(page, "Statistics").getAttribute("aria-selected")).toBe("true");
});

test("search heeds case and patterns", async () => {
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
  await field(page).fill("gemm$|relu_kernel$");
  await expectCount(page, "4 hits");
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
  await openTab(page, "Event");
  await expectEvent(page, "cuLaunchKernel", "55 µs");
  await expect.poll(() => fact(page, "Duration")).toBe("4.00 µs");
  await expect.poll(() => fact(page, "Category")).toBe("launch");
  await expect.poll(() => fact(page, "Track")).toBe("python");
  const pane = (name: string) => drawer(page).getByRole("region", { name, exact: true });
  await expect.poll(() => textOf(pane("Arguments"))).toContain("101");
  await expect
    .poll(() => pane("Within").getByRole("listitem").allTextContents())
    .toEqual(["train", "dense/MatMul:MatMul", "cuLaunchKernel"]);
  const same = pane("Events of the same name");
  await expect
    .poll(() => same.locator("dd").allTextContents())
    .toEqual(["4", "16.0 µs", "4.00 µs", "4.00 µs", "4.00 µs"]);
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
  await expect.poll(() => fact(page, "Self")).toBe("15.0 µs");
  await expect.poll(() => textOf(pane("Arguments"))).toContain("a note of the op");
  await drawer(page).locator(".trace-event-name a").first().waitFor();
  await same.getByRole("button", { name: "List these events" }).click();
  await expectParameter(page, "q", "whole:dense/MatMul:MatMul");
});

test("a range is added up by name, category and track", async () => {
  const page = await show({ ...ALL, range: "0.05..0.1", tab: "selection" });
  await page.getByRole("grid", { name: "Events by name" }).waitFor();
  const sums = drawer(page).locator(".trace-sums");
  await expect
    .poll(() => textOf(sums))
    .toMatch(/13 events in 50.0 µs.*busy 50.0 µs \(100.0 %\), idle 0 µs/s);
  await eventually(async () => {
    const rows = await cells(page, "Events by name");
    // Two devices' kernels; copies from 10 to 60 and from 60 to 110, as far as they are inside.
    expect(numbersOf(rows, "gemm_kernel")).toEqual([2, 42, 42, 21, 18, 24]);
    expect(numbersOf(rows, "AsyncCopy").slice(0, 2)).toEqual([2, 50]);
    expect(numbersOf(rows, "train").slice(0, 3)).toEqual([1, 48, 10]);
    expect(numbersOf(rows, "dense/MatMul:MatMul").slice(0, 3)).toEqual([1, 20, 15]);
  });
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
  await openTab(page, "Statistics");
  await expect.poll(() => textOf(sums)).toMatch(/48 events in 210 µs/);
});

test("calls of a range are a flame graph and a tree, and lead to the longest call", async () => {
  const page = await show({ ...ALL, range: "0.05..0.1", tab: "selection" });
  await openTab(page, "Call tree");
  const flame = drawer(page).getByRole("application", { name: "Flame graph, top down" });
  await flame.waitFor();
  await expect
    .poll(() => textOf(drawer(page).locator(".trace-sums")))
    .toMatch(/13 events in the 50.0 µs selected on 6 tracks, 6 derived tracks excluded/);
  // All calls, a level of names, and what is below: some have a color of their own.
  await expect.poll(() => colorsOf(flame.locator("canvas"))).toBeGreaterThan(5);
  await flame.click({ position: { x: 10, y: 27 } });
  await expectParameter(page, "tab", "calls");
  await expect.poll(() => textOf(flame.getByRole("status"))).toMatch(/^AsyncCopy: total 50.0 µs/);
  await openTab(page, "Event");
  await expectEvent(page, "AsyncCopy", "60 µs");
  await openTab(page, "Call tree");
  await drawer(page).getByText("Tree", { exact: true }).click();
  await expectParameter(page, "calls", "tree");
  await drawer(page).getByRole("textbox", { name: "Search calls" }).fill("cuLaunch");
  const rows = () => page.getByRole("treegrid", { name: "Calls, top down" }).getByRole("row");
  await expect
    .poll(async () => (await rows().allTextContents()).slice(1).map((row) => row.slice(0, 30)))
    .toEqual([
      expect.stringMatching(/^▾train48\.0/),
      expect.stringMatching(/^▾dense\/MatMul:MatMul20\.0/),
      expect.stringMatching(/^cuLaunchKernel4\.00/),
    ]);
  await rows().nth(3).click();
  await openTab(page, "Event");
  await expectEvent(page, "cuLaunchKernel", "55 µs");
});

function colorsOf(canvas: Locator): Promise<number> {
  return canvas.evaluate((element) => {
    const { width, height } = element as HTMLCanvasElement;
    const pen = (element as HTMLCanvasElement).getContext("2d");
    if (!pen || width === 0 || height === 0) return 0;
    return new Set(new Uint32Array(pen.getImageData(0, 0, width, height).data.buffer)).size;
  });
}

/** The numbers of a row of sums, without what it is and its share. */
function numbersOf(rows: readonly string[][], key: string): number[] {
  const row = rows.find(([name]) => name === key) ?? [];
  return row
    .slice(1, -1)
    .filter((cell) => /^[\d.,]+$/.test(cell))
    .map(Number);
}

test("the card follows the pointer; the line at the bottom counts", async () => {
  const page = await show({ from_ms: "0", to_ms: "0.05" });
  const status = page.locator(".trace-status");
  for (const part of ["48 events in the file", "48 indexed", "50.0 µs across"])
    await expect.poll(() => textOf(status)).toContain(part);
  await settled(page);
  const box = (await page.locator("#trace-timeline").boundingBox())!;
  const lane = (await page.locator('[data-lane="e0@host0"]').boundingBox())!;
  await page.mouse.move(box.x + box.width * (20 / 50), lane.y + 9);
  const card = page.locator(".pointer-card");
  await expect.poll(() => textOf(card)).toMatch(/gemm_kernel.*24\.0 µs.*12 µs/s);
  // One mebibyte is reserved; another is taken at 10 µs and given back at 30, then two, to four.
  const counter = page.locator(".trace-label.counter");
  await expect.poll(() => textOf(counter)).toContain("max 5.00 MiB");
  const { y } = (await counter.boundingBox())!;
  await page.mouse.move(box.x + box.width * (20 / 50), y + 20);
  await expect.poll(() => textOf(card)).toMatch(/memory in use.*2\.00 MiB at (19\.9|20)/s);
  await page.mouse.move(box.x + box.width * (40 / 50), y + 20);
  await expect.poll(() => textOf(card)).toMatch(/memory in use.*1\.00 MiB at (39\.9|40)/s);
  await page.mouse.move(box.x + box.width * (49 / 50), lane.y + 9);
  await expect.poll(() => card.count()).toBe(0);
});

test("a range in an address that names no tab is added up", async () => {
  const page = await show({ ...ALL, range: "0.05..0.1" });
  await page.getByRole("grid", { name: "Events by name" }).waitFor();
  await expect.poll(() => tab(page, "Selection").getAttribute("aria-selected")).toBe("true");
  await expectParameter(page, "tab", "selection");
});

test("the help of the page names queries that find something", async () => {
  const page = await show();
  await button(page, "Help").click();
  const help = page.getByRole("dialog", { name: "Help" });
  const query = await textOf(help.getByText(/^category:/));
  await page.keyboard.press("Escape");
  await field(page).fill(query);
  await expectCount(page, "4 hits");
});
