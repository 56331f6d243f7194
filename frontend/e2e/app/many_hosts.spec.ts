/** Pages of a run of 1,024 hosts: sums first, and no list of a thousand anything. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LARGE, settled } from "../harness/browser";
import { expectGoodLooks, FIRST_LOOK } from "../harness/looks";
import {
  addressOf,
  precompute,
  runScript,
  type Server,
  serve,
  temporaryFolder,
} from "../harness/servers";
import { type OpenOptions, watchedBrowser } from "../harness/watched_browser";

const open = watchedBrowser();
const POD = "pod";
const SLOW = "worker-0700";
/** What is there once a tool's answer is shown. */
const PAGES: Readonly<Record<string, string>> = {
  overview_page: ".tile",
  input_pipeline_analyzer: ".why, h2",
  tf_data_bottleneck_analysis: ".graph-content",
  framework_op_stats: '[role="gridcell"]',
  memory_profile: ".memory-multiple",
  pod_viewer: "canvas",
  trace_viewer: ".trace-status span",
};

const held: { server: Server; remove: () => void }[] = [];

beforeAll(async () => {
  const { path, remove } = temporaryFolder();
  const [logdir, cache] = [join(path, "logdir"), join(path, "cache")];
  runScript("make_pod_run.py", logdir, POD);
  // Computed before a page waits for it, which would draw its progress all the while.
  precompute(logdir, cache);
  const server = await serve(logdir, cache);
  held.push({ server, remove });
});

afterAll(async () => {
  for (const { server, remove } of held) await server.stop().then(remove);
});

async function show(tool: string, options: OpenOptions = LARGE) {
  const opened = await open(addressOf(held[0].server, POD, tool), options);
  await opened.page.locator(PAGES[tool]).first().waitFor();
  await settled(opened.page);
  return opened;
}

/** The most children of an element, and all elements. */
const sizeOf = (page: Page) =>
  page.evaluate(() => {
    const all = [...document.querySelectorAll("*")];
    return { all: all.length, widest: Math.max(...all.map((one) => one.children.length)) };
  });

test.each(Object.keys(PAGES))("%s stays small on the way and in the browser", async (tool) => {
  const { page, received } = await show(tool, FIRST_LOOK);
  const expectSmall = async () => {
    const { all, widest } = await sizeOf(page);
    expect(widest).toBeLessThan(128);
    expect(all).toBeLessThan(2500);
    expect(await received(/\/data\?/)).toBeLessThan(300_000);
  };
  await expectSmall();
  await expectGoodLooks(page);
  await expectSmall();
});

test("hosts are searched for, not listed", async () => {
  const { page } = await show("overview_page");
  await page.getByRole("button", { name: "Hosts: all 1024" }).click();
  const options = page.getByRole("option");
  expect(await options.count()).toBeLessThanOrEqual(200);
  await page.getByText("more; type to narrow the list").waitFor();
  await page.getByPlaceholder("Search hosts").fill("0700");
  await expect.poll(() => options.count()).toBe(1);
  await options.first().click();
  await page.waitForURL(/worker-0700/);
});

test("the slowest host stands out among all, and is named", async () => {
  const { page } = await show("pod_viewer");
  await page.getByRole("heading", { name: /Slowest worker/ }).waitFor();
  await expect.poll(() => page.getByRole("main").textContent()).toContain(SLOW);
});

test("the fullest memories are pictured beside the chosen one, any is found", async () => {
  const { page } = await show("memory_profile");
  const small = page.locator(".memory-multiple");
  const names = () => small.locator(".memory-multiple-host").allTextContents();
  await page.getByText("the fullest of 1,024").waitFor();
  expect((await names()).slice(0, 2)).toEqual(["worker-0000", SLOW]);
  expect(await small.count()).toBe(33);
  await page.locator(".memory-picker button").click();
  await page.getByPlaceholder("Search allocators and hosts").fill("worker-0003");
  await page.getByRole("option", { name: /worker-0003/ }).click();
  await expect.poll(async () => (await names()).slice(0, 2)).toEqual(["worker-0003", SLOW]);
});

test("slow pipelines come first, the others on demand", async () => {
  const { page } = await show("tf_data_bottleneck_analysis");
  const rows = page.locator(".tf-pipelines tbody tr");
  expect(await rows.first().textContent()).toContain(SLOW);
  await page.getByRole("button", { name: "1,012 more pipelines" }).click();
  await expect.poll(() => rows.count()).toBe(112);
});

test("the trace viewer opens some hosts, says so, and opens any other", async () => {
  const { page } = await show("trace_viewer");
  const status = page.locator(".trace-status");
  await expect.poll(() => status.textContent()).toContain("the files of 16 of 1,024 hosts");
  await page.getByRole("button", { name: "Hosts: all 1024" }).click();
  await page.getByPlaceholder("Search hosts").fill("0700");
  await page.getByRole("option").first().click();
  await expect.poll(() => status.textContent()).toContain("in the file");
});
