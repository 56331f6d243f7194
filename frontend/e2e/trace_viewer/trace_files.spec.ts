/** The trace viewer on files that are several, damaged, hostile, sparse or empty. */
import { expect, test } from "vitest";
import { eventually, textOf } from "../harness/browser";
import { expectGoodThemes } from "../harness/looks";
import {
  button,
  drawer,
  drawn,
  expectCount,
  field,
  lanes,
  openTab,
  panesOfRuns,
  tree,
} from "./trace_panes_page";

const { show, openAt, address } = panesOfRuns();

test("a damaged file says so, and shows what is left", async () => {
  const page = await show({}, "cut");
  await page
    .getByText(/the file ends early, at byte/)
    .first()
    .waitFor();
  await expect.poll(() => drawn(page)).toBeGreaterThan(5);
  await expect.poll(() => textOf(page.locator(".trace-status"))).toContain("34 events in the file");
});

test("dropped events are reported, with the remedy", async () => {
  const page = await show({}, "dropped");
  await page.getByText("the recorder dropped 1,200,000 events").first().waitFor();
  await page.getByRole("button", { name: /details/ }).click();
  await page.getByText(/record fewer steps/).waitFor();
  await expectGoodThemes(page);
});

test("collapsed hosts are strips until a click opens one", async () => {
  const hosts = ["worker-0", "worker-1", "worker-2"];
  const fold = hosts.map((host) => `h@${host}`).join();
  const page = await show({ hosts: hosts.join(), fold }, "three_hosts");
  await expect.poll(() => lanes(page)).toEqual(["worker-0", "worker-1", "worker-2"]);
  await expect
    .poll(() => textOf(page.locator(".trace-status")))
    .toContain("144 events in the files of 3 hosts");
  await expect.poll(() => textOf(page.locator(".trace-status"))).toContain("3 busy strips drawn");
  const item = (name: RegExp) => tree(page).getByRole("treeitem", { name });
  const host = item(/^worker-1,/);
  // The first is in view; the others begin after it.
  await expect.poll(() => textOf(item(/^worker-0,/))).toMatch(/\d % busy/);
  await expect.poll(() => textOf(host)).not.toContain("busy");
  await host.locator(".trace-label-name").click();
  await expect.poll(() => lanes(page)).toContain("/device:GPU:0");
  await expect.poll(() => host.getAttribute("aria-expanded")).toBe("true");
  // They are a millisecond after those of the host that the page opened on.
  await page.keyboard.press("0");
  await expect
    .poll(() => textOf(page.locator(".trace-status")))
    .toMatch(/[1-9]\d* drawn and 2 busy strips/);
  await expect.poll(() => textOf(item(/^worker-2,/))).toMatch(/\d % busy/);
  await expectGoodThemes(page);
});

test("names that are markup are text", async () => {
  const page = await show({ q: "onerror" }, "hostile_events");
  await expectCount(page, /^10 hits/);
  await expect.poll(() => textOf(page.locator(".trace-labels"))).toContain("<img src=x onerror");
  await field(page).focus();
  await field(page).press("Enter");
  await openTab(page, "Event");
  await expect
    .poll(() => textOf(drawer(page).locator(".trace-event-name > code").first()))
    .toContain("<script>");
  await openTab(page, "Statistics");
  await page.getByRole("grid", { name: "Events by name" }).waitFor();
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  await expect.poll(() => page.locator("img[src=x], main script").count()).toBe(0);
});

test("columns stay below their titles, however long names are", async () => {
  const view = { tab: "statistics", from_ms: "0", to_ms: "0.02" };
  const page = await show(view, "hostile_events", { width: 1280, height: 720 });
  const grid = page.getByRole("grid", { name: "Events by name" });
  await grid.getByRole("row").nth(2).waitFor();
  await eventually(async () => {
    const edges = await grid
      .getByRole("row")
      .evaluateAll((rows) =>
        rows.map((row) => [...row.children].map((cell) => cell.getBoundingClientRect().left)),
      );
    expect(edges.length).toBeGreaterThan(2);
    for (const row of edges) expect(row).toEqual(edges[0]);
  });
});

test("years of nothing between events leave them to be seen", async () => {
  const page = await show({}, "sparse");
  await expect.poll(() => drawn(page)).toBeGreaterThan(0);
  await button(page, "All").click();
  await expect.poll(() => drawn(page)).toBeGreaterThanOrEqual(2);
  await field(page).fill("late");
  await expectCount(page, /^50 hits/);
  await field(page).press("Enter");
  await expect.poll(() => drawn(page)).toBeGreaterThan(0);
  await expect.poll(() => textOf(page.locator("#trace-timeline > .unseen"))).toBe("Selected: late");
});

test.each(["empty", "bare"])("a trace without events tells why: %s", async (run) => {
  const page = await openAt(address(run));
  await page.getByRole("heading", { name: "Trace viewer: nothing to show" }).waitFor();
  await page.getByText("The trace has no events.").waitFor();
  await expect.poll(() => page.locator("#trace-timeline").count()).toBe(0);
  await expectGoodThemes(page);
});
