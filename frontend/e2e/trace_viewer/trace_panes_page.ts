/** What surrounds the timeline, under test: its fields, tabs, tables and tracks, and what they say. */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { eventually, textOf } from "../harness/browser";
import { type OpenOptions, traceRuns, type View } from "./trace_runs";

/** All four steps of the drawn run, see make_timeline_run.py. */
export const ALL = { from_ms: "0", to_ms: "0.21" };

/** Runs for the tests of a file, each of which has to end without problems. */
export function panesOfRuns() {
  const runs = traceRuns();
  return {
    address: runs.address,
    /** An address in a page of its own, as soon as it is there. */
    openAt: async (address: string) => (await runs.openAt(address)).page,
    /** A page of a run; of the drawn one with the tracks that are worked out of its events. */
    show: async (view: View = ALL, run = "drawn", options: OpenOptions = {}) => {
      const { page } = await runs.openAt(runs.address(run, view), options);
      const isDrawn = /[1-9][\d,]* (busy strips? )?(drawn|listed)/;
      await page.locator(".trace-status", { hasText: isDrawn }).waitFor();
      if (run === "drawn" && !view.tracks) await page.locator('[data-lane="d5@host0"]').waitFor();
      return page;
    },
  };
}

export const parameter = (page: Page, name: string) =>
  new URLSearchParams(new URL(page.url()).hash.slice(1)).get(name);
export const expectParameter = (page: Page, name: string, value: string | null) =>
  expect.poll(() => parameter(page, name)).toBe(value);
export const field = (page: Page) => page.getByRole("textbox", { name: "Search events" });
export const count = (page: Page) => page.getByTitle("List the hits");
export const drawer = (page: Page) => page.getByRole("region", { name: "Details" });
/** The name of the selected event. */
export const eventName = (page: Page) => drawer(page).locator(".trace-event-name > code");
export const tree = (page: Page) => page.getByRole("tree");
export const tab = (page: Page, name: string) => drawer(page).getByRole("tab", { name });
/** The counts in tabs change while searches end, which moves the tabs after them. */
export const openTab = (page: Page, name: string) =>
  eventually(async () => {
    await tab(page, name).click();
    expect(await tab(page, name).getAttribute("aria-selected")).toBe("true");
  });
export const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
export const expectCount = (page: Page, text: string | RegExp) =>
  expect.poll(() => textOf(count(page))).toMatch(text);

export async function drawn(page: Page): Promise<number> {
  const text = await textOf(page.locator(".trace-status"));
  return Number(/([\d,]+) drawn/.exec(text)?.[1].replaceAll(",", ""));
}

/** The name in the drawer, and when the event starts. */
export async function expectEvent(page: Page, name: string, start: string): Promise<void> {
  await expect.poll(() => fact(page, "Start")).toBe(start);
  await expect.poll(() => textOf(eventName(page).first())).toBe(name);
}

/** What the drawer says of the selected event: "Start" and the like. */
export async function fact(page: Page, label: string): Promise<string> {
  const found = drawer(page).locator(".trace-facts > div", { hasText: label }).locator("dd");
  return (await found.count()) > 0 ? textOf(found.first()) : "";
}

/** The cells of a table, row by row. */
export function cells(page: Page, label: string | RegExp): Promise<string[][]> {
  return page
    .getByRole("grid", { name: label })
    .locator(".trace-rows-body [role=row]")
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...row.querySelectorAll("[role=gridcell]")].map((cell) => cell.textContent ?? ""),
      ),
    );
}

/** Names of the lanes from top to bottom. */
export function lanes(page: Page): Promise<string[]> {
  return tree(page)
    .getByRole("treeitem")
    .evaluateAll((items) =>
      items
        .map((item) => ({
          top: item.getBoundingClientRect().top,
          name: item.querySelector(".trace-label-name")?.textContent ?? "",
        }))
        .sort((a, b) => a.top - b.top)
        .map(({ name }) => name),
    );
}
