/** What the pages say when there is little, damaged or hostile data, and several hosts. */
import type { Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { violations } from "../harness/looks";
import { addressOf, makeTraces, type Server, serve, temporaryFolder } from "../harness/servers";
import { server } from "../harness/shared_server";
import { ownPages } from "../harness/watched_browser";

const open = ownPages();
let own: Server | undefined;
let folder: { path: string; remove: () => void } | undefined;

afterEach(async () => {
  await own?.stop();
  folder?.remove();
  own = folder = undefined;
});

/** A server of these runs alone. */
async function served(...runs: string[]): Promise<Server> {
  folder = temporaryFolder();
  makeTraces(folder.path, ...runs);
  own = await serve(folder.path);
  return own;
}

const address = (
  run: string,
  tool = "overview_page",
  view: Readonly<Record<string, string>> = {},
) => addressOf(server, run, tool, view);

const grid = (page: Page) => page.getByRole("treegrid", { name: /^(?!Calls)/ });
/** The page that opens by itself. */
const overview = (page: Page) => page.locator(".tile").first();

test("an empty logdir says what was looked for, and opens a run when one comes", async () => {
  const { page, problems } = await open((await served()).page);
  await page.getByText(folder!.path).first().waitFor();
  await page.getByText("jax.profiler").first().waitFor();
  await page.getByText("tf.profiler.experimental").first().waitFor();
  expect(await violations(page)).toEqual([]);
  makeTraces(folder!.path, "small");
  await overview(page).waitFor();
  // At an address that can be shared.
  await page.waitForURL(/#run=small&tool=overview_page$/);
  expect(problems).toEqual([]);
});

test("a run without files is distinguished from an empty logdir", async () => {
  const { page } = await open(address("no_files"));
  await page
    .getByRole("main")
    .getByText(/has no trace files/)
    .first()
    .waitFor();
  await page.locator(".diagnoses summary").waitFor();
});

test("a file that is not a trace is an error with its place and the way out", async () => {
  const { page } = await open(address("no_trace"));
  await page
    .getByRole("main")
    .getByText(/EF BF BD/)
    .first()
    .waitFor();
  await page.locator(".diagnoses summary").waitFor();
  await expect.poll(() => page.getByText("Traceback").count()).toBe(0);
});

test("hosts: readable ones are combined, the others named in a banner, any can be chosen", async () => {
  const { page } = await open(address("damaged_hosts", "kernel_stats"));
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
  await page.goto(address("damaged_hosts", "kernel_stats", { hosts: "h0" }));
  await page.reload();
  await grid(page).getByRole("row").nth(1).waitFor();
  await expect
    .poll(() => page.getByRole("button", { name: /^Hosts/ }).textContent())
    .toContain("h0");
});

test("a run that is gone leads to those that are there, and says what was looked at", async () => {
  const { page } = await open(address("gone"));
  await page.getByRole("heading", { name: "This run is gone" }).waitFor();
  await page.locator(".diagnoses summary").waitFor();
  await page.locator(".message li a").first().click();
  await overview(page).waitFor();
  await page.goto(address("gpu", "pod_viewer"));
  await page.locator(".diagnoses summary").waitFor();
});

test("while the server is out of reach a page keeps what it has, others say what to do", async () => {
  const { page: start, url } = await served("damaged_hosts");
  const { page } = await open(`${start}#tool=kernel_stats`);
  await grid(page).getByRole("row").nth(1).waitFor();
  await page.getByRole("button", { name: /^Hosts/ }).click();
  await own!.stop();
  await page.getByRole("option", { name: /^h1/ }).click();
  await page.keyboard.press("Escape");
  const alert = page.getByRole("alert").filter({ hasText: "The server does not respond" });
  await alert.filter({ hasText: "tbprof doctor LOGDIR" }).waitFor();
  await grid(page).getByRole("row").nth(1).waitFor();
  // A page whose files are not there yet.
  await page.locator(".tabs").getByText("Op stats", { exact: true }).click();
  await page.getByRole("heading", { name: "No connection to the server" }).waitFor();
  own = await serve(folder!.path, undefined, "--port", new URL(url).port);
  await page.getByRole("main").getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Op stats" }).waitFor();
  await grid(page).getByRole("row").nth(1).waitFor();
  await expect.poll(() => alert.count()).toBe(0);
});

test("an answer from another server is not a page, and Try again asks again", async () => {
  const { page } = await open("about:blank");
  const proxy = "**/data?**";
  await page.route(proxy, (route) => route.fulfill({ status: 502, body: "<html>Bad gateway" }));
  await page.goto(address("gpu"));
  await page.getByRole("heading", { name: "The response is not from tbprof" }).waitFor();
  await page.getByText("tbprof doctor LOGDIR").waitFor();
  await page.unroute(proxy);
  await page.getByRole("button", { name: "Try again" }).click();
  await overview(page).waitFor();
});

test("a tab goes gray once the server knows that it has nothing, without a reload", async () => {
  const { page, problems } = await open((await served("small")).page);
  await page.setViewportSize({ width: 2000, height: 720 }); // all tabs fit
  await overview(page).waitFor();
  await page.locator('.tab.unavailable[aria-label^="Pod"]').waitFor();
  expect(problems).toEqual([]);
});

test("names from traces are text, whatever they hold", async () => {
  for (const tool of ["framework_op_stats", "kernel_stats"]) {
    const { page, problems } = await open(address("hostile_ops", tool));
    await grid(page).getByRole("row").nth(1).waitFor();
    await expect.poll(() => grid(page).textContent()).toContain("<img src=x");
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    await expect.poll(() => page.locator("main img[src=x], main script").count()).toBe(0);
    expect(problems).toEqual([]);
  }
});

test("100,000 rows keep a small document, and scroll to the last one", async () => {
  const { page, problems } = await open(
    address("many_ops", "framework_op_stats", { group: "none" }),
  );
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
  const grown = await served("small");
  const { page } = await open("about:blank", { isFresh: true });
  await page.clock.install();
  await page.goto(grown.page);
  await overview(page).waitFor();
  makeTraces(folder!.path, "no_files");
  const runs = new URL("logdir", grown.page);
  await expect.poll(async () => (await fetch(runs)).text()).toContain("no_files");
  await page.clock.fastForward(15_000);
  await page.getByRole("button", { name: /^Run/ }).click();
  await page.getByRole("option", { name: /no_files/ }).waitFor();
});
