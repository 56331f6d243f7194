/** What pages say while somebody waits for them, on a server that waits until it is let go on. */
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { brokenTexts, violations } from "../harness/looks";
import {
  addressOf,
  runScript,
  SAMPLES,
  type Server,
  serveHeld,
  temporaryFolder,
} from "../harness/servers";
import { watchedBrowser } from "../harness/watched_browser";

const open = watchedBrowser();
const CPU = "tensorflow_cpu_training";
const READY = ".grid-row.active";

/** Each with a server of its own: what has been computed once is not waited for again. */
const held: { server: Server; folder: string; remove: () => void }[] = [];
const letGo = () => writeFileSync(join(held[0].folder, "gate"), "");

beforeAll(async () => {
  const { path, remove } = temporaryFolder();
  const logdir = join(path, "logdir");
  cpSync(SAMPLES, logdir, { recursive: true });
  runScript("make_gpu_run.py", join(logdir, "plugins/profile/gpu"));
  const parts = ["host_calls", "kernel_calls"];
  const server = await serveHeld(logdir, join(path, "cache"), join(path, "gate"), parts);
  held.push({ server, folder: path, remove });
});

afterAll(async () => {
  for (const { server, remove } of held) await server.stop().then(remove);
});

const show = (run: string, tool: string, view = {}) =>
  open(addressOf(held[0].server, run, tool, view), { width: 1280, height: 720 });
const said = (page: Page) => page.getByRole("main").getByRole("status").first();
const line = (page: Page) => page.getByRole("progressbar", { name: "Loading" });
const cancelled = (page: Page) => page.getByRole("heading", { name: "Cancelled" });

test("a page that is waited for says what is done and how far; cancelled, it says so", async () => {
  const { page } = await show(CPU, "framework_op_stats");
  await expect.poll(() => said(page).textContent()).toMatch(/^[A-Z].* of host0: part \d of \d/);
  // How far: the part of the line that is filled, in numbers and to be seen.
  const far = async () => Number(await line(page).getAttribute("aria-valuenow"));
  await expect.poll(far).toBeGreaterThan(0);
  const [whole, filled] = [line(page), line(page).locator("span")];
  const width = async () =>
    (await filled.boundingBox())!.width / ((await whole.boundingBox())!.width || 1);
  await expect.poll(async () => Math.abs((await width()) - (await far()) / 100)).toBeLessThan(0.02);
  expect(await far()).toBeLessThan(100);
  expect(await brokenTexts(page)).toEqual([]);

  await page.getByRole("main").getByRole("button", { name: "Cancel" }).click();
  await cancelled(page).waitFor();
  await expect.poll(() => line(page).count()).toBe(0);
  await page.getByText("The server keeps what it has read so far").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Start again" }).click();
  await expect.poll(() => said(page).textContent()).toMatch(/ of host0: part \d of \d/);

  const other = await show("gpu", "kernel_stats", { group: "none" });
  await other.page.waitForSelector(READY);
  await other.page.focus(".grid");
  await other.page.keyboard.press("Enter");
  const launches = other.page.locator(".kernel-detail [role=status]");
  await expect.poll(() => launches.textContent()).toMatch(/ of host0: part \d of 2/);

  letGo();
  await page.waitForSelector(READY);
  await expect.poll(() => line(page).count()).toBe(0);
  await other.page.locator(".kernel-detail table").first().waitFor();
});

test("a trace viewer that is cancelled says so, and starts again", async () => {
  const { page } = await show(CPU, "pod_viewer");
  const waiting: Route[] = [];
  const timelines = "**/timeline?**";
  await page.route(timelines, (route) => void waiting.push(route));
  await page.goto(addressOf(held[0].server, CPU, "trace_viewer"));
  await expect.poll(() => waiting.length).toBeGreaterThan(0);
  await page.getByText("Opening").waitFor();
  await page.getByRole("main").getByRole("button", { name: "Cancel" }).click();
  await cancelled(page).waitFor();
  await page.unroute(timelines);
  for (const route of waiting) await route.abort().catch(() => {});
  await page.getByRole("button", { name: "Start again" }).click();
  await page.locator(".trace-status", { hasText: "drawn" }).waitFor();
});
