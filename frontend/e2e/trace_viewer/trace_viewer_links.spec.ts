/** From other pages into the trace viewer, with exactly the events meant marked, and back. */
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { settled as isIdle, release, textOf } from "../harness/browser";
import { ask, column, rows, type Table, TRACES } from "../harness/servers";
import { server } from "../harness/shared_server";
import { ROW } from "./trace_canvas_page";
import { expectChosen, lane, settled, timeline, viewOf } from "./trace_page";
import { expectCount, field, parameter } from "./trace_panes_page";
import { traceRuns, type View } from "./trace_runs";

const runs = traceRuns();

const show = async (run: string, tool: string, view: View = {}) =>
  (await runs.openAt(runs.address(run, view, tool))).page;

const isTrace = (page: Page) => page.waitForURL(/tool=trace_viewer/);
/** The table of a page, and its first row. */
const table = (page: Page) => page.getByRole("treegrid", { name: /^(?!Calls)/ });
const firstRow = (page: Page) => table(page).getByRole("row").nth(1);

/** The `at`th of the tables that a tool answers with, or its only one. */
async function answered(run: string, tool: string, at: number) {
  const answer = await ask<Table[] | Table>(server, run, tool);
  return rows(Array.isArray(answer) ? answer[at] : answer);
}

/** Follows a link to the trace viewer, which then shows all that it leads to. */
async function follow(link: Locator): Promise<void> {
  await link.click();
  await isTrace(link.page());
  await settled(link.page());
}

/** The row of a table that has the focus and is chosen, opened. */
async function openRow(page: Page, at: number): Promise<void> {
  const grid = table(page).last();
  await grid.getByRole("row").nth(1).waitFor();
  await grid.focus();
  await page.keyboard.press("Home");
  for (let step = 0; step < at; step++) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
}

test.each([
  ["framework_op_stats", 1, "operation"],
  ["kernel_stats", 0, "kernel_name"],
] as const)("a row of %s opens with its events marked", async (tool, at, name) => {
  const [first] = await answered("drawn", tool, at);
  const page = await show("drawn", tool);
  await openRow(page, 0);
  await follow(page.getByRole("link", { name: "Show in the trace viewer" }));
  expect(parameter(page, "q")).toContain(String(first[name]));
  await expectCount(page, new RegExp(`^${first.occurrences} hits?`));
  await page
    .getByRole("tab", { name: `Search hits (${first.occurrences})`, selected: true })
    .waitFor();
  // Enter goes to the first of them.
  await field(page).press("Enter");
  await expectChosen(page, "gemm_kernel");
  // Back leads to the table.
  await page.goBack();
  await firstRow(page).waitFor();
});

test("g does the same by keyboard, for the row that is chosen", async () => {
  const page = await show("drawn", "kernel_stats");
  const [, second] = await answered("drawn", "kernel_stats", 0);
  const grid = page.getByRole("treegrid");
  await grid.getByRole("row").nth(1).waitFor();
  await grid.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("g");
  await isTrace(page);
  await expect.poll(() => parameter(page, "q")).toContain(String(second.kernel_name));
});

test("input ops, their verdict and who works for them lead to their events", async () => {
  const page = await show("drawn", "input_pipeline_analyzer");
  const [op] = await answered("drawn", "input_pipeline_analyzer", 2);
  await openRow(page, 0);
  await follow(page.getByRole("link", { name: "Show in the trace viewer" }));
  expect(parameter(page, "q")).toBe(`input-op:${op.opName}`);
  await expectCount(page, new RegExp(`^${op.count} hits`));
});

test("a step of a chart opens as that step, however late its track comes, and Back leads back", async () => {
  const page = await show("drawn", "overview_page");
  let release = () => {};
  const isDrawn = new Promise<void>((done) => {
    release = done;
  });
  await page.route(/part=derived/, async (route) => {
    await isDrawn;
    await route.continue();
  });
  const [, steps] = await ask(server, "drawn", "overview_page");
  const chart = page.getByRole("slider", { name: "Step time: step" });
  await chart.locator("canvas").first().waitFor();
  await chart.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await isIdle(page);
  const at = Number(await chart.getAttribute("aria-valuenow"));
  await page.keyboard.press("Enter");
  await isTrace(page);
  await page.locator(".trace-status", { hasText: "drawn" }).waitFor();
  release();
  const view = await viewOf(page);
  const start = Number(column(steps, "startMs")[at]) * 1000;
  const end = start + Number(column(steps, "stepTimeMs")[at]) * 1000;
  expect(view.from).toBeLessThanOrEqual(start);
  expect(view.to).toBeGreaterThanOrEqual(end - 0.01);
  expect(view.to - view.from).toBeLessThan((end - start) * 1.5);
  await expect.poll(() => parameter(page, "event")).not.toBeNull();
  await page.goBack();
  await page.locator(".tile").first().waitFor();
});

test("findings open on their worst step with their events marked", async () => {
  const [, , , , , , , findings] = await ask(server, "drawn", "overview_page");
  const known = rows(findings).filter(({ tool }) => tool === "trace_viewer");
  expect(known.length).toBeGreaterThan(0);
  const page = await show("drawn", "overview_page");
  const list = page.locator(".findings");
  await list.locator("summary").first().waitFor();
  for (const details of await list.locator("details").all())
    await details.evaluate((element) => Object.assign(element, { open: true }));
  const link = list.getByRole("link", { name: /Trace viewer$/ }).first();
  const expected = new URLSearchParams(
    new URL(`x:?${(await link.getAttribute("href"))!.slice(1)}`).search,
  );
  await follow(link);
  expect(parameter(page, "q")).toBe(expected.get("q"));
  await expect.poll(() => page.url()).toMatch(/from_ms=|event=/);
});

test("the pod viewer's workers open on their own host", async () => {
  const page = await show("three_hosts", "pod_viewer", { step: "2" });
  const card = page.locator(".pod-worker");
  await card.waitFor();
  await isIdle(page);
  const host = await textOf(card.locator(".cut").first());
  await follow(card.getByRole("link", { name: "Show its host in trace" }));
  await expect.poll(() => parameter(page, "hosts")).toBe(host);
  await expect.poll(() => parameter(page, "event")).not.toBeNull();
  const view = await viewOf(page);
  expect(view.from).toBeGreaterThan(80);
  expect(view.to).toBeLessThan(170);
  await page.goBack();
  await follow(page.getByRole("link", { name: "Show in trace", exact: true }));
  // A step opens where its slowest worker ran it.
  expect(parameter(page, "hosts")).toMatch(/^worker-\d$/);
});

test("an event leads to its op and kernel on the other pages", async () => {
  const page = await show("drawn", "trace_viewer", { from_ms: "0", to_ms: "0.2", q: "gemm" });
  await settled(page);
  await field(page).press("Enter");
  await expectChosen(page, "gemm_kernel");
  await page.getByRole("tab", { name: "Event" }).click();
  const head = page.locator(".trace-event-name");
  await head.getByRole("link").first().waitFor();
  await settled(page);
  const names = await head.getByRole("link").allTextContents();
  expect(names.length).toBeGreaterThan(1);
  for (const name of names) {
    await settled(page);
    await head.getByRole("link", { name, exact: true }).click();
    await page.waitForURL(/tool=(?!trace_viewer)/);
    // A table with the row, or a page of steps with the step chosen.
    const isStep = /step/i.test(name);
    await (isStep ? page.getByRole("heading", { level: 1 }) : firstRow(page)).waitFor();
    await expect.poll(() => page.getByText(/ match the filters/).count()).toBe(0);
    if (isStep) expect(parameter(page, "step")).toBe("0");
    await page.goBack();
    await settled(page);
  }
});

/** The names of the tracks that have most hits in the range of an address, over all hosts. */
async function tracksWithHits(run: string, view: URLSearchParams): Promise<string[]> {
  const get = async (route: string, more: Readonly<Record<string, string>>) => {
    const query = new URLSearchParams({ run, host: view.get("hosts") ?? "", ...more });
    return (await fetch(`${server.url}data/plugin/profile/${route}?${query}`)).json();
  };
  const index = await get("timeline", {});
  const ps = (name: string) => String(Math.round(Number(view.get(name)) * 1e9));
  const { tracks } = await get("timeline_search", {
    version: index.version,
    q: view.get("q") ?? "",
    regex: view.get("regex") ?? "",
    from_ps: ps("from_ms"),
    to_ps: ps("to_ms"),
  });
  return Object.keys(tracks).map((id) => index.tracks.name[Number(id)]);
}

/** Opens each finding's evidence in the trace viewer: events that it counts are on the screen. */
async function expectEvidence(run: string): Promise<number> {
  const [, , , , , , , findings] = await ask(server, run, "overview_page");
  const shown = rows(findings)
    .filter(({ evidence_tool }) => evidence_tool === "trace_viewer")
    .map(({ evidence_query }) => new URLSearchParams(String(evidence_query)))
    .filter((view) => view.has("q") && view.has("from_ms"));
  for (const view of shown) {
    const page = await show(run, "trace_viewer", Object.fromEntries(view));
    await settled(page);
    await expectCount(page, / · [1-9][\d,]* in view$/);
    const names = await tracksWithHits(run, view);
    expect(names.length).toBeGreaterThan(0);
    const canvas = (await timeline(page).boundingBox())!;
    const inSight = async () => {
      for (const name of names) {
        const label = lane(page, name);
        const box = (await label.count()) > 0 ? await label.boundingBox() : null;
        // Its first row at least.
        if (box && box.y >= canvas.y && box.y + ROW <= canvas.y + canvas.height) return true;
      }
      return false;
    };
    await expect.poll(inSight).toBe(true);
    await release(page);
  }
  return shown.length;
}

test.each(["drawn", "three_hosts"])("%s: evidence of findings is on the screen", async (run) => {
  await expectEvidence(run);
});

describe.runIf(TRACES)("on recorded traces", () => {
  test.each(["v100", "amd"])("%s: evidence of findings is on the screen", async (run) => {
    expect(await expectEvidence(run)).toBeGreaterThan(0);
  });

  test.each([
    ["v100", "framework_op_stats", 1],
    ["v100", "kernel_stats", 0],
    ["tpu", "framework_op_stats", 1],
  ] as const)("%s: rows of %s mark as many events as they count", async (run, tool, index) => {
    const listed = await answered(run, tool, index);
    const page = await show(run, tool, { group: "none" });
    for (const at of [0, 3]) {
      await openRow(page, at);
      await page.keyboard.press("g");
      await isTrace(page);
      await settled(page);
      const count = Number(listed[at].occurrences).toLocaleString("en-US");
      await expectCount(page, new RegExp(`^${count} hits?\\b`));
      await page.goBack();
    }
  });
});
