/** The trace viewer under test: where events are on the screen, and what the page says of them. */
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { settled as isIdle, type Opened, textOf } from "../harness/browser";
import type { OpenOptions, Runs, View } from "./trace_runs";

/** The whole drawn trace, see make_timeline_run.py. */
export const ALL = { from_ms: "0", to_ms: "0.2" };
/** CSS pixels of one depth. */
export const ROW = 18;

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
export const drawer = (page: Page) => page.getByRole("region", { name: "Details" });
export const status = async (page: Page) => textOf(page.locator(".trace-status"));
export const parameter = (page: Page, name: string) =>
  new URLSearchParams(new URL(page.url()).hash.slice(1)).get(name);

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

export async function click(page: Page, { x, y }: Spot): Promise<void> {
  await page.mouse.click(x, y);
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

/** The name of the selected event in the drawer. */
export async function selected(page: Page): Promise<string> {
  return textOf(drawer(page).locator(".trace-event-name > code").first());
}

export async function expectSelected(page: Page, name: string): Promise<void> {
  await expect.poll(() => drawer(page).locator(".trace-event-name > code").count()).toBe(1);
  await expect.poll(() => selected(page)).toBe(name);
}

/** What is announced as selected, whatever the drawer shows. */
export async function expectChosen(page: Page, name: string): Promise<void> {
  const spoken = timeline(page).locator("> .unseen");
  await expect.poll(() => textOf(spoken)).toBe(`Selected: ${name}`);
}

/** What the drawer says of the selected event: "Start" and the like. */
export async function fact(page: Page, label: string): Promise<string> {
  const entry = drawer(page).locator(".trace-facts div").filter({ hasText: label });
  return textOf(entry.locator("dd").first());
}

/** The rows of a table of the drawer, cell by cell. */
export async function rowsOf(page: Page, name: string | RegExp): Promise<string[][]> {
  const grid = page.getByRole("grid", { name });
  await grid.waitFor();
  return grid
    .locator(".trace-rows-body [role=row]")
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...row.querySelectorAll("[role=gridcell]")].map((cell) => cell.textContent ?? ""),
      ),
    );
}

/** The colors at places of the screen, as "r,g,b", whatever has drawn them. */
export async function colorsAt(page: Page, spots: readonly Spot[]): Promise<string[]> {
  const shot = (await page.screenshot()).toString("base64");
  return page.evaluate(
    async ([text, places]) => {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
      const pen = new OffscreenCanvas(image.width, image.height).getContext("2d")!;
      pen.drawImage(image, 0, 0);
      return places.map(({ x, y }) =>
        [...pen.getImageData(Math.floor(x), Math.floor(y), 1, 1).data.slice(0, 3)].join(),
      );
    },
    [shot, spots] as const,
  );
}
