/** The trace viewer under test: where events are on the screen, and what the page says of them. */
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { settled as isIdle, type Opened, textOf } from "../harness/browser";
import { ROW } from "./trace_canvas_page";
import { cells, eventName, parameter } from "./trace_panes_page";
import type { OpenOptions, Runs, View } from "./trace_runs";

/** The whole drawn trace, see make_timeline_run.py. */
export const ALL = { from_ms: "0", to_ms: "0.2" };

/** The page of a run once all that is in view has been drawn. */
export async function openTrace(
  runs: Runs,
  run: string,
  view: View = ALL,
  options: OpenOptions = {},
): Promise<Opened> {
  const opened = await runs.openAt(runs.address(run, view), options);
  await settled(opened.page);
  return opened;
}

/** Returns once the view has been drawn, nothing is on its way, and the address says what is shown. */
export async function settled(page: Page): Promise<void> {
  await page.locator(".trace-status").waitFor();
  await isIdle(page);
}

export const timeline = (page: Page) => page.locator("#trace-timeline");
export const status = async (page: Page) => textOf(page.locator(".trace-status"));

/** What of the trace is in view, in µs, as the address says; the page has to be settled. */
export async function viewOf(page: Page): Promise<{ from: number; to: number }> {
  await settled(page);
  const [from, to] = ["from_ms", "to_ms"].map((name) => Number(parameter(page, name) ?? "NaN"));
  return { from: from * 1000, to: to * 1000 };
}

/** The label of a lane: `nth` of that name from the top. */
export function lane(page: Page, name: string, nth = 0): Locator {
  const label = page.locator(".trace-label-name").getByText(name, { exact: true });
  return page.locator(".trace-label").filter({ has: label }).nth(nth);
}

export interface Spot {
  readonly x: number;
  readonly y: number;
}

/** Where on the screen an instant in µs of a lane is, in a depth of its track. */
export async function spot(label: Locator, us: number, depth = 0): Promise<Spot> {
  const page = label.page();
  const { from, to } = await viewOf(page);
  const box = (await timeline(page).boundingBox())!;
  const { y } = (await label.boundingBox())!;
  return { x: box.x + ((us - from) / (to - from)) * box.width, y: y + (depth + 0.5) * ROW };
}

/** With the left button, in steps as hands do. */
export async function drag(page: Page, from: Spot, to: Spot): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 4 });
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
}

/** A key of the timeline, which then has the focus. */
export async function press(page: Page, key: string): Promise<void> {
  await timeline(page).focus();
  await page.keyboard.press(key);
}

export async function expectSelected(page: Page, name: string): Promise<void> {
  await expect.poll(() => eventName(page).count()).toBe(1);
  await expect.poll(() => textOf(eventName(page))).toBe(name);
}

/** What is announced as selected, whatever the drawer shows. */
export async function expectChosen(page: Page, name: string): Promise<void> {
  const spoken = timeline(page).locator("> .unseen");
  await expect.poll(() => textOf(spoken)).toBe(`Selected: ${name}`);
}

/** The rows of a table of the drawer, cell by cell. */
export async function rowsOf(page: Page, name: string | RegExp): Promise<string[][]> {
  await page.getByRole("grid", { name }).waitFor();
  return cells(page, name);
}
