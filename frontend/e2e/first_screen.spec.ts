/** What each page shows of recorded runs before anything is done: whole, and with its answer. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  brokenTexts,
  eventually,
  overflowsSideways,
  overlappingTexts,
  settled,
  textOf,
} from "./browser";
import { addressOf, ask, column, type Table, TRACES } from "./servers";
import { server } from "./shared_server";
import { watchedBrowser } from "./watched_browser";

const RUNS = ["v100", "amd", "tpu"];
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

describe.skipIf(!TRACES)("real traces", () => {
  test.each(RUNS)("%s: no text is cut or lies over another, on any page", async (run) => {
    const session = await fetch(
      `${server.url}data/plugin/profile/session?${new URLSearchParams({ run })}`,
    );
    const { tools } = (await session.json()) as { tools: SessionTool[] };
    const names = tools.filter((tool) => tool.available).map(({ name }) => name);
    expect(names).toContain("overview_page");
    for (const tool of names) {
      const page = await show(run, tool);
      for (const size of SIZES) {
        await page.setViewportSize(size);
        await eventually(async () => {
          const faults = [
            ...((await overflowsSideways(page)) ? ["sticks out sideways"] : []),
            ...(await brokenTexts(page)),
            ...(await overlappingTexts(page)),
          ];
          expect([tool, size.width, faults]).toEqual([tool, size.width, []]);
        });
      }
    }
  });

  test.each(RUNS)("%s: the overview says what is slow and what a fix saves", async (run) => {
    const page = await show(run, "overview_page");
    await expect.poll(() => isInView(page, ".verdict")).toBe(true);
    await expect.poll(() => textOf(page.locator(".verdict"))).toMatch(/\d %.*could be saved/);
  });

  test.each(RUNS.slice(0, 2))("%s: the first kernel takes most of the time", async (run) => {
    const tables = await ask<Table | Table[]>(server, run, "kernel_stats");
    const table = Array.isArray(tables) ? tables[0] : tables;
    const times = new Map<unknown, number>();
    column(table, "kernel_name").forEach((name, row) => {
      const us = Number(column(table, "total_duration_us")[row]);
      times.set(name, (times.get(name) ?? 0) + us);
    });
    const [longest] = [...times].sort(([, a], [, b]) => b - a)[0];
    const page = await show(run, "kernel_stats");
    const first = ".grid-body .grid-row .name";
    await expect.poll(() => isInView(page, first)).toBe(true);
    await expect
      .poll(async () => (await page.locator(first).first().getAttribute("title"))?.slice(0, 1000))
      .toBe(String(longest).slice(0, 1000));
  });

  test.each(RUNS)("%s: the memory profile says what fills the memory at the peak", async (run) => {
    const page = await show(run, "memory_profile");
    await expect.poll(() => isInView(page, ".memory-fills")).toBe(true);
    await expect
      .poll(() => textOf(page.locator(".memory-fills")))
      .toMatch(/^At the peak:\d+\.\d % \w/);
  });

  test("the pod viewer names the worker that is late", async () => {
    const page = await show(RUNS[0], "pod_viewer");
    await expect.poll(() => isInView(page, ".pod-worker")).toBe(true);
    await expect
      .poll(() => textOf(page.locator(".pod-worker")))
      .toMatch(/Slowest worker.*GPU:6.*1\.44 ms/s);
  });
});

describe("recorded runs on CPUs", () => {
  test.each([
    ["jax_cpu_training", /^Moderate.*No recorded op covers 8\.4 %.*could be saved/],
    ["tensorflow_cpu_training", /^Moderate.*No recorded op covers 16\.2 %.*could be saved/],
    ["tensorflow_input_bound", /^High.*75\.3 % of step time.*input.*could be saved/],
  ])("%s: the overview says what is slow and what a fix saves", async (run, verdict) => {
    const page = await show(run, "overview_page");
    await expect.poll(() => isInView(page, ".verdict")).toBe(true);
    await expect.poll(() => textOf(page.locator(".verdict"))).toMatch(verdict);
  });

  test.each([
    ["input_pipeline_analyzer", ".verdict", /highly input-bound.*ParallelMap takes/],
    ["tf_data_bottleneck_analysis", ".tf-sentence", /waits for tf\.data.*ParallelMap takes/],
    ["pod_viewer", ".verdict", /CPU is the only worker/],
  ])("%s says what a run that waits for input is about", async (tool, selector, answer) => {
    const page = await show("tensorflow_input_bound", tool);
    await expect.poll(() => isInView(page, selector)).toBe(true);
    await expect.poll(() => textOf(page.locator(selector).first())).toMatch(answer);
  });
});

/** A page as it opens in a small window, once it is complete. */
async function show(run: string, tool: string): Promise<Page> {
  const { page } = await open(addressOf(server, run, tool), { width: 1280, height: 720 });
  await page.locator("main h1, .trace-status").first().waitFor();
  await settled(page);
  return page;
}

/** Whether the first that `selector` finds is whole in the window, as it was opened. */
async function isInView(page: Page, selector: string): Promise<boolean> {
  const box = await page.locator(selector).first().boundingBox();
  const size = page.viewportSize()!;
  return box !== null && box.y >= 0 && box.y + box.height <= size.height && box.width > 0;
}
