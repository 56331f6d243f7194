/** A server with a token: opened by its link, or by a form that asks for the token. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { violations } from "../harness/looks";
import { SAMPLES, type Server, serve, temporaryFolder } from "../harness/servers";
import { ownPages } from "../harness/watched_browser";

const open = ownPages();
const TOKEN = "of-our-own";
const FIRST = "#run=jax_cpu_training&tool=overview_page";
const folder = temporaryFolder();
let server: Server;
let address: string;

beforeAll(async () => {
  server = await serve(SAMPLES, folder.path, "--token", TOKEN);
  address = new URL("data/plugin/profile/index.html", server.url).href;
});

afterAll(async () => {
  await server.stop();
  folder.remove();
});

test("the link opens the pages, and the token does not stay in the address", async () => {
  const { page, problems } = await open(server.url, { isFresh: true });
  await page.locator(".tile").first().waitFor();
  expect(new URL(server.url).searchParams.get("token")).toBe(TOKEN);
  expect(page.url()).not.toContain(TOKEN);
  // Nothing that a page runs sees it.
  expect(await page.evaluate(() => document.cookie)).toBe("");
  expect(problems).toEqual([]);
});

test("without it a form asks, and leads to the page that was asked for", async () => {
  const { page, problems } = await open(address + FIRST, { isFresh: true, forgives: /403/ });
  await page.getByRole("heading", { name: "This server needs a token" }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByLabel("Token").fill("not the token");
  await page.keyboard.press("Enter");
  await page.getByText("missing or wrong").waitFor();
  await page.getByLabel("Token").fill(TOKEN);
  await page.getByRole("button", { name: "Open" }).click();
  await page.locator(".tile").first().waitFor();
  expect(page.url()).toBe(address + FIRST);
  expect(problems).toEqual([]);
});
