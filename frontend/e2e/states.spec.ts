/** What the pages say when there is little, damaged or hostile data, and several hosts. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { launch, open, violations } from "./browser";
import { makeTraces, type Server, serve, temporaryFolder } from "./servers";

let browser: Browser;
let server: Server | undefined;
let folder: { path: string; remove: () => void } | undefined;

beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());
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

const grid = (page: Page) => page.getByRole("treegrid");

test("an empty logdir says what was looked for, and opens a run when one comes", async () => {
  const { page: address } = await served("");
  const { page, problems } = await open(browser, address);
  await page.getByText(folder!.path).first().waitFor();
  await page.getByText("jax.profiler").first().waitFor();
  await page.getByText("tf.profiler.experimental").first().waitFor();
  expect(await violations(page)).toEqual([]);
  makeTraces("one", folder!.path);
  await grid(page).getByRole("row").nth(1).waitFor({ timeout: 30_000 });
  expect(problems).toEqual([]);
});

test("a run without files is told from an empty logdir", async () => {
  const { page: address } = await served("empty");
  const { page } = await open(browser, address);
  await page
    .getByText(/holds no trace files/)
    .first()
    .waitFor();
});

test("a file that is no trace is an error with its place and the way out", async () => {
  const { page: address } = await served("broken");
  const { page } = await open(browser, address);
  await page
    .getByText(/EF BF BD|not an XPlane trace/)
    .first()
    .waitFor();
  expect(await page.getByText("Traceback").count()).toBe(0);
});

test("hosts: readable ones are combined, the others named in a banner, any can be chosen", async () => {
  const { page: address } = await served("hosts");
  const { page } = await open(browser, `${address}#tool=framework_op_stats`);
  await grid(page).getByRole("row").nth(1).waitFor();
  await page.getByText(/h3/).first().waitFor();
  await page.getByRole("button", { name: /^Hosts/ }).click();
  await page.getByRole("option", { name: /h1/ }).waitFor();
  expect(await page.getByRole("option", { name: /^h\d|h0/ }).count()).toBeGreaterThan(0);
});

test("names from traces are text, whatever they hold", async () => {
  const { page: address } = await served("hostile");
  for (const tool of ["framework_op_stats", "kernel_stats"]) {
    const { page, problems } = await open(browser, `${address}#tool=${tool}`);
    await grid(page)
      .getByText(/img src=x|script/)
      .first()
      .waitFor();
    await page.waitForTimeout(200);
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    expect(await page.locator("main img[src=x], main script").count()).toBe(0);
    expect(problems).toEqual([]);
  }
});

test("100,000 rows keep a small document, and scroll to the last one", async () => {
  const { page: address } = await served("many");
  const { page, problems } = await open(browser, `${address}#tool=framework_op_stats`);
  await grid(page).getByRole("row").nth(1).waitFor({ timeout: 40_000 });
  expect(await grid(page).getAttribute("aria-rowcount")).toBe("100001");
  expect(await grid(page).getByRole("row").count()).toBeLessThan(200);
  await grid(page).focus();
  await page.keyboard.press("End");
  await grid(page).locator('[aria-rowindex="100001"]').waitFor();
  expect(await grid(page).getByRole("row").count()).toBeLessThan(200);
  expect(problems).toEqual([]);
});

test("a logdir that grows shows its new runs without a reload", async () => {
  folder = temporaryFolder();
  mkdirSync(join(folder.path, "plugins/profile"), { recursive: true });
  makeTraces("one", folder.path);
  server = await serve(folder.path);
  const { page } = await open(browser, server.page);
  await grid(page).getByRole("row").nth(1).waitFor();
  makeTraces("empty", folder.path);
  await page.waitForTimeout(6_000);
  await page.getByRole("button", { name: /^Run/ }).click();
  await page.getByRole("option", { name: /nothing/ }).waitFor();
});
