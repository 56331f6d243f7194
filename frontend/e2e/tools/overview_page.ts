/** The overview under test: its parts, and what the server says of its run. */
import type { Page } from "playwright-core";
import { settled } from "../harness/browser";
import { addressOf, ask } from "../harness/servers";
import { server } from "../harness/shared_server";
import { type OpenOptions, watchedBrowser } from "../harness/watched_browser";

export const TOOL = "overview_page";
/** Its first step compiles, and each fifth is slow. */
export const SLOW = "slow";

/** Shows the overview of a run once its figures are there, in pages for the tests of a file. */
export function overviewPages() {
  const open = watchedBrowser();

  return async (run: string, view = {}, options: OpenOptions = {}): Promise<Page> => {
    const { page } = await open(addressOf(server, run, TOOL, view), options);
    await page.locator(".tile").first().waitFor();
    return page;
  };
}

export const tables = (run: string, more = {}) => ask(server, run, TOOL, more);
export const slider = (page: Page) => page.getByRole("slider", { name: "Step time: step" });
export const canvas = (page: Page) => page.locator(".step-chart canvas");
export const tile = (page: Page, name: string) => page.getByRole("group", { name, exact: true });

/** The middle of a step's column, from the left edge of the canvas, and its place on the page. */
export async function columnAt(page: Page, step: number, count: number) {
  await settled(page);
  const area = (await page.locator(".step-chart .u-over").boundingBox())!;
  const drawn = (await canvas(page).boundingBox())!;
  const x = area.x + ((step + 0.5) / count) * area.width;
  return { x, y: area.y + area.height / 2, inCanvas: x - drawn.x };
}
