/** What the tests of the tf.data page read off it, and off the server's answers. */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { eventually, settled } from "../harness/browser";
import { expectPercent, expectTime } from "../harness/readings";
import { rows, type Table } from "../harness/servers";
import { type ToolRuns, toolRuns } from "../harness/tool_runs";

/** The samples, a real trace where there is one, and drawn runs: see make_tf_data_run.py. */
export function tfDataRuns(): ToolRuns {
  return toolRuns("tf_data_bottleneck_analysis", async (page) => {
    await page.locator(".tf-graph").waitFor();
    await settled(page);
  });
}

/** What asks for one execution alone, by default for the first one that is shown. */
export const ONE = { rank: "worst" };
export const parameter = (page: Page, name: string) =>
  new URLSearchParams(new URL(page.url()).hash.slice(1)).get(name);
export const summary = (page: Page) =>
  page.getByRole("region", { name: "Performance analysis summary" });
export const frame = (page: Page) => page.locator(".graph-frame");
export const nodes = (page: Page) => page.locator(".graph-node:not(.tf-stub)");
export const node = (page: Page, type: string) =>
  nodes(page).filter({ has: page.locator(`text:text-is("${type}")`) });
export const details = (page: Page) => page.locator(".tf-details");
export const rank = (page: Page) => page.locator(".tf-rank-field");
export const transform = (page: Page) => page.locator(".graph-content").getAttribute("style");
export const fact = (page: Page, label: string) =>
  summary(page)
    .locator(".tf-facts > div")
    .filter({ has: page.getByText(label, { exact: true }) })
    .locator("dd");

const US: Readonly<Record<string, string>> = {
  "Total duration": "total_us",
  "Self time": "self_us",
};

/** Every node of the graph shows what the server says of it. */
export function expectGraph(page: Page, graph: Table | undefined): Promise<unknown> {
  return eventually(() => checkGraph(page, graph));
}

async function checkGraph(page: Page, graph: Table | undefined): Promise<void> {
  const expected = rows(graph);
  expect(await nodes(page).count()).toBe(expected.length);
  const root = expected.find(({ parent }) => parent === "");
  const held = (row: ReturnType<typeof rows>[number]) => Number(row.held_us ?? row.self_us);
  const onPath = expected.filter(({ type }) => Number(type) > 0);
  const whole = Math.max(
    Number(root?.total_us),
    onPath.reduce((sum, row) => sum + held(row), 0),
  );
  for (const one of await nodes(page).all()) {
    const texts = await one.locator("text").allTextContents();
    const type = texts[0];
    const found = expected.filter(({ iterator }) => iterator === type);
    if (found.length !== 1) continue;
    const value = (label: string) => texts[texts.indexOf(label) + 1];
    for (const [label, id] of Object.entries(US)) expectTime(value(label), Number(found[0][id]));
    expect(value("Calls")).toBe(Number(found[0].calls).toLocaleString("en-US"));
    expectPercent(texts.at(-1) ?? "", (100 * held(found[0])) / whole);
    const kinds = ["other", "critical", "bottleneck"];
    expect(await one.getAttribute("data-kind")).toBe(kinds[Number(found[0].type)]);
  }
}

export async function choose(page: Page, picker: RegExp, option: RegExp): Promise<void> {
  await page.locator(".tf-graph").getByRole("button", { name: picker }).click();
  await page.getByRole("option", { name: option }).first().click();
  await settled(page);
}
