/** What each page shows of recorded runs before anything is done: whole, and with its answer. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { eventually, settled, textOf } from "../harness/browser";
import { brokenTexts, gapsInNames, overflowsSideways, overlappingTexts } from "../harness/looks";
import { addressOf, ask, column, type Table, TRACES } from "../harness/servers";
import { server } from "../harness/shared_server";
import { watchedBrowser } from "../harness/watched_browser";

const RUNS = [
  "jax_cpu_training",
  "tensorflow_cpu_training",
  "tensorflow_input_bound",
  ...(TRACES ? ["v100", "amd", "tpu"] : []),
];
/** Where runs of several workers say which is late. */
const LATE: Readonly<Record<string, readonly [selector: string, answer: RegExp]>> = {
  v100: [".pod-worker", /Slowest worker.*GPU:6.*1\.44 ms/s],
  tpu: [".pod-stragglers p", /No worker is late/],
};
const SIZES = [
  { width: 1600, height: 1000 },
  { width: 1280, height: 720 },
  { width: 1024, height: 768 },
];

interface SessionTool {
  readonly name: string;
  readonly available: boolean;
}

const open = watchedBrowser();

test("texts that lie over others are found, and what covers them is not", async () => {
  const { page } = await open("about:blank");
  const write = (style: string) =>
    page.setContent(`<p style="margin: 0">below</p><p style="margin: 0; ${style}">above</p>`);
  await write("");
  expect(await overlappingTexts(page)).toEqual([]);
  await write("position: absolute; top: 4px");
  expect(await overlappingTexts(page)).toHaveLength(1);
  await write("position: absolute; top: 4px; background: white");
  expect(await overlappingTexts(page)).toEqual([]);
});

describe.each(RUNS)("%s", (run) => {
  test("no text is cut or lies over another, on any page", async () => {
    const names = await pagesOf(run);
    expect(names).toContain("overview_page");
    // One page goes from tool to tool: to load its scripts again takes longer than to look at it.
    const page = await show(run, names[0]);
    for (const tool of names) {
      if (tool !== names[0]) await goTo(page, run, tool);
      for (const size of SIZES) {
        await page.setViewportSize(size);
        await eventually(async () => {
          const faults = [
            ...((await overflowsSideways(page)) ? ["sticks out sideways"] : []),
            ...(await brokenTexts(page)),
            ...(await overlappingTexts(page)),
            ...(await gapsInNames(page)),
          ];
          expect([tool, size.width, faults]).toEqual([tool, size.width, []]);
        });
      }
    }
  });

  test("the overview says what is slow and what a fix saves", async () => {
    const page = await show(run, "overview_page");
    await expectInView(page, ".verdict", /\d %.*At most .* could be saved/);
  });

  test("the first kernel takes most of the time; without kernels the first op does", async () => {
    const hasKernels = (await pagesOf(run)).includes("kernel_stats");
    const [tool, name, time] = hasKernels
      ? ["kernel_stats", "kernel_name", "total_duration_us"]
      : ["framework_op_stats", "operation", "total_self_time"];
    const page = await show(run, tool, { group: hasKernels ? "kernel" : "none" });
    const longest = await longestOf(run, tool, name, time);
    await expectInView(page, ".grid-body .grid-row .name", /./);
    const first = page.locator(".grid-body .grid-row .name").first();
    await expect
      .poll(async () => (await first.getAttribute("title"))?.slice(0, 1000))
      .toBe(longest.slice(0, 1000));
  });

  test("the memory profile says what fills the memory at the peak", async () => {
    if (!(await pagesOf(run)).includes("memory_profile")) {
      // Nothing was recorded: the tab says so.
      expect(run).toBe("jax_cpu_training");
      return;
    }
    const page = await show(run, "memory_profile");
    await expectInView(page, ".memory-fills", /^At the peak:\d+\.\d % \w/);
  });

  test("the pod viewer says which worker is late, or that none is", async () => {
    const page = await show(run, "pod_viewer");
    const [selector, answer] = LATE[run] ?? [".verdict", /is the only worker/];
    await expectInView(page, selector, answer);
  });
});

test.each([
  ["jax_cpu_training", /^Moderate.*only rearrange data take 14\.6 % of op time/],
  ["tensorflow_cpu_training", /^Moderate.*No recorded op covers 16\.2 %/],
  ["tensorflow_input_bound", /^High.*75\.3 % of step time.*input/],
])("%s: the overview names the largest part", async (run, verdict) => {
  await expectInView(await show(run, "overview_page"), ".verdict", verdict);
});

test.each([
  ["input_pipeline_analyzer", ".verdict", /highly input-bound.*ParallelMap takes/],
  ["tf_data_bottleneck_analysis", ".tf-sentence", /waits for tf\.data.*ParallelMap takes/],
])("%s says what a run that waits for input is about", async (tool, selector, answer) => {
  await expectInView(await show("tensorflow_input_bound", tool), selector, answer);
});

/** The names of the pages that have something of a run. */
async function pagesOf(run: string): Promise<string[]> {
  const query = new URLSearchParams({ run });
  const session = await fetch(`${server.url}data/plugin/profile/session?${query}`);
  const { tools } = (await session.json()) as { tools: SessionTool[] };
  return tools.filter((tool) => tool.available).map(({ name }) => name);
}

/** Of the names in a table the one that has most time in all its rows. */
async function longestOf(run: string, tool: string, id: string, time: string): Promise<string> {
  const tables = await ask<Table | Table[]>(server, run, tool);
  const table = Array.isArray(tables) ? tables[0] : tables;
  const sums = new Map<string, number>();
  column(table, id).forEach((name, row) => {
    const us = Number(column(table, time)[row]);
    sums.set(String(name), (sums.get(String(name)) ?? 0) + us);
  });
  return [...sums].sort(([, a], [, b]) => b - a)[0][0];
}

/** A page as it opens in a small window, once it is complete. */
async function show(run: string, tool: string, view = {}): Promise<Page> {
  const { page } = await open(addressOf(server, run, tool, view), { width: 1280, height: 720 });
  await isComplete(page);
  return page;
}

/** Another tool in a page that is open, once it is complete. */
async function goTo(page: Page, run: string, tool: string): Promise<void> {
  const former = await page.title();
  await page.goto(addressOf(server, run, tool));
  await expect.poll(() => page.title()).not.toBe(former);
  await isComplete(page);
}

async function isComplete(page: Page): Promise<void> {
  await page.locator("main h1, .trace-status").first().waitFor();
  await settled(page);
}

/** What the first of `selector` says, which is whole in the window as it was opened. */
async function expectInView(page: Page, selector: string, answer: RegExp): Promise<void> {
  await expect.poll(() => isInView(page, selector)).toBe(true);
  await expect.poll(() => textOf(page.locator(selector).first())).toMatch(answer);
}

/** Whether the first that `selector` finds is whole in the window, as it was opened. */
async function isInView(page: Page, selector: string): Promise<boolean> {
  const box = await page.locator(selector).first().boundingBox();
  const size = page.viewportSize()!;
  return box !== null && box.y >= 0 && box.y + box.height <= size.height && box.width > 0;
}
