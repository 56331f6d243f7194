/** What the pages say when there is little, damaged or hostile data, and several hosts. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { violations } from "./browser";
import { makeTraces, type Server, serve, temporaryFolder } from "./servers";
import { ownPages } from "./watched_browser";

const open = ownPages();
let server: Server | undefined;
let folder: { path: string; remove: () => void } | undefined;

afterEach(async () => {
  await server?.stop();
  folder?.remove();
  server = folder = undefined;
});

async function served(kind: string): Promise<Server> {
  folder = temporaryFolder();
  if (kind) makeTraces(kind, folder.path);
  server = await serve(folder.path);
  return server;
}

const grid = (page: Page) => page.getByRole("treegrid", { name: /^(?!Calls)/ });
/** The page that opens by itself. */
const overview = (page: Page) => page.locator(".tile").first();

test("an empty logdir says what was looked for, and opens a run when one comes", async () => {
  const { page: address } = await served("");
  const { page, problems } = await open(address);
  await page.getByText(folder!.path).first().waitFor();
  await page.getByText("jax.profiler").first().waitFor();
  await page.getByText("tf.profiler.experimental").first().waitFor();
  expect(await violations(page)).toEqual([]);
  makeTraces("one", folder!.path);
  await overview(page).waitFor();
  expect(problems).toEqual([]);
});

test("a run without files is distinguished from an empty logdir", async () => {
  const { page: address } = await served("empty");
  const { page } = await open(address);
  await page
    .getByRole("main")
    .getByText(/has no trace files/)
    .first()
    .waitFor();
});

test("a file that is no trace is an error with its place and the way out", async () => {
  const { page: address } = await served("broken");
  const { page } = await open(address);
  await page
    .getByRole("main")
    .getByText(/EF BF BD/)
    .waitFor();
  await expect.poll(() => page.getByText("Traceback").count()).toBe(0);
});

test("hosts: readable ones are combined, the others named in a banner, any can be chosen", async () => {
  const { page: address } = await served("hosts");
  const { page } = await open(`${address}#tool=kernel_stats`);
  await grid(page).getByRole("row").nth(1).waitFor();
  // Two whole hosts with three launches each; the third is cut inside its GPU plane.
  await page.getByRole("main").getByText("6", { exact: true }).first().waitFor();
  await page.getByText("1 of 4 hosts unreadable").waitFor();
  await page.getByRole("button", { name: /details/ }).click();
  await page
    .getByText(/h3\.xplane\.pb/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: /^Hosts/ }).click();
  await page.getByRole("option", { name: /^h1/ }).click();
  await page.keyboard.press("Escape");
  await expect.poll(() => page.url()).toContain("hosts=h1");
  await page.goto(`${address}#tool=kernel_stats&hosts=h0`);
  await page.reload();
  await grid(page).getByRole("row").nth(1).waitFor();
  await expect
    .poll(() => page.getByRole("button", { name: /^Hosts/ }).textContent())
    .toContain("h0");
});

test("a run that is gone leads to those that are there, and says what was looked at", async () => {
  const { page: address } = await served("one");
  const { page } = await open(`${address}#run=gone&tool=overview_page`);
  await page.getByRole("heading", { name: "This run is gone" }).waitFor();
  await page.locator(".message li a").first().click();
  await overview(page).waitFor();
  await page.goto(`${address}#tool=pod_viewer`);
  await page.reload();
  await page.locator(".diagnoses summary").waitFor();
});

test("a tab goes gray once the server knows that it has nothing, without a reload", async () => {
  const { page: address } = await served("one");
  const { page, problems } = await open(address);
  await overview(page).waitFor();
  await page.locator('.tab.unavailable[aria-label^="Pod"]').waitFor();
  expect(problems).toEqual([]);
});

test("names from traces are text, whatever they hold", async () => {
  const { page: address } = await served("hostile");
  for (const tool of ["framework_op_stats", "kernel_stats"]) {
    const { page, problems } = await open(`${address}#tool=${tool}`);
    await grid(page).getByRole("row").nth(1).waitFor();
    await expect.poll(() => grid(page).textContent()).toContain("<img src=x");
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    await expect.poll(() => page.locator("main img[src=x], main script").count()).toBe(0);
    expect(problems).toEqual([]);
  }
});

test("100,000 rows keep a small document, and scroll to the last one", async () => {
  const { page: address } = await served("many");
  const { page, problems } = await open(`${address}#tool=framework_op_stats&group=none`);
  await grid(page).getByRole("row").nth(1).waitFor();
  await expect.poll(() => grid(page).getAttribute("aria-rowcount")).toBe("100002");
  await expect.poll(() => grid(page).getByRole("row").count()).toBeLessThan(200);
  await grid(page).focus();
  await page.keyboard.press("End");
  await grid(page).locator('[aria-rowindex="100001"]').waitFor();
  await expect.poll(() => grid(page).getByRole("row").count()).toBeLessThan(200);
  expect(problems).toEqual([]);
});

test("a logdir that grows shows its new runs without a reload", async () => {
  folder = temporaryFolder();
  mkdirSync(join(folder.path, "plugins/profile"), { recursive: true });
  makeTraces("one", folder.path);
  server = await serve(folder.path);
  const { page } = await open("about:blank", { isFresh: true });
  await page.clock.install();
  await page.goto(server.page);
  await overview(page).waitFor();
  makeTraces("empty", folder.path);
  const address = new URL("logdir", server.page);
  await expect.poll(async () => (await fetch(address)).text()).toContain("nothing");
  await page.clock.fastForward(15_000);
  await page.getByRole("button", { name: /^Run/ }).click();
  await page.getByRole("option", { name: /nothing/ }).waitFor();
});
