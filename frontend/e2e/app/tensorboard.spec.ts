/** The Profile tab in a real TensorBoard. */
import type { Frame, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SAMPLES, type Server, tensorBoard } from "../harness/servers";
import { ownPages } from "../harness/watched_browser";

const open = ownPages();
let server: Server;

beforeAll(async () => {
  server = await tensorBoard(SAMPLES);
});
afterAll(async () => {
  await server?.stop();
});

async function profileFrame(page: Page): Promise<Frame> {
  const element = await page.locator("iframe").first().elementHandle();
  const frame = await element?.contentFrame();
  if (!frame) throw new Error("no frame");
  await frame.locator(".tile, .grid-row").first().waitFor();
  return frame;
}

test("one Profile tab, active, with the pages in it", async () => {
  const { page, problems } = await open(`${server.url}#profile`);
  const frame = await profileFrame(page);
  await expect.poll(() => frame.getByRole("heading", { level: 1 }).textContent()).toBe("Overview");
  const listing = await page.evaluate(async () => {
    const answer = await fetch("data/plugins_listing");
    return (await answer.json()) as Record<string, { enabled: boolean; tab_name: string }>;
  });
  const tabs = Object.values(listing).filter((one) => /profile/i.test(one.tab_name));
  expect(tabs).toHaveLength(1);
  expect(tabs[0]?.enabled).toBe(true);
  // TensorBoard asks a font server for its own icons; our pages ask nobody.
  expect(
    problems.filter((problem) => /plugin\/profile|Content Security Policy/.test(problem)),
  ).toEqual([]);
});

test("the page follows TensorBoard's dark mode", async () => {
  const { page } = await open(`${server.url}#profile`);
  const frame = await profileFrame(page);
  const background = () => frame.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.evaluate(() => document.body.classList.add("dark-mode"));
  await expect.poll(background).not.toBe(light);
});

test("what the page shows is in TensorBoard's own address", async () => {
  const { page } = await open(`${server.url}#profile`);
  const frame = await profileFrame(page);
  await frame.locator(".tabs").getByText("Op stats", { exact: true }).click();
  await frame.getByRole("checkbox", { name: /idle/i }).check();
  await expect.poll(() => page.url()).toMatch(/p\.profile\.s=.*idle/);
  const again = await open(page.url());
  const second = await profileFrame(again.page);
  await expect.poll(() => second.getByRole("checkbox", { name: /idle/i }).isChecked()).toBe(true);
});

test("Back and Forward go from page to page, and keep what each showed", async () => {
  const { page, problems } = await open(`${server.url}#profile`);
  const frame = await profileFrame(page);
  const tab = (name: string) => frame.locator(".tabs").getByText(name, { exact: true });
  const heading = () => frame.getByRole("heading", { level: 1 }).textContent();
  const shown = () => new URLSearchParams(new URL(frame.url()).hash.slice(1));
  await tab("Trace").click();
  await frame.getByText(/[1-9][\d,]* drawn/).waitFor();
  await frame.locator("#trace-timeline").focus();
  await page.keyboard.press("w");
  await expect.poll(() => page.url()).toMatch(/p\.profile\.s=.*from_ms/);
  const zoomed = shown().get("from_ms");
  await tab("Op stats").click();
  await frame.locator(".grid-row").first().waitFor();
  await page.goBack();
  await frame.locator("#trace-timeline").waitFor();
  await expect.poll(() => shown().get("from_ms")).toBe(zoomed);
  await expect.poll(() => page.url()).toMatch(/p\.profile\.s=.*trace_viewer/);
  await page.goBack();
  await expect.poll(heading).toBe("Overview");
  await expect.poll(() => page.url()).toMatch(/p\.profile\.s=.*overview_page/);
  await page.goForward();
  await frame.locator("#trace-timeline").waitFor();
  await page.goForward();
  await frame.locator(".grid-row").first().waitFor();
  expect(new URL(page.url()).hash).toContain("#profile");
  expect(
    problems.filter((problem) => /plugin\/profile|Content Security Policy/.test(problem)),
  ).toEqual([]);
});
