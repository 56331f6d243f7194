/** The graph viewer on a recorded trace: walked, opened, searched, and read as text. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { eventually, settled } from "../harness/browser";
import { toolRuns } from "../harness/tool_runs";

interface Graph {
  readonly program_id: string;
  readonly name: string;
  readonly center_name: string;
  readonly nodes: readonly { name: string; opcode: string; can_open: boolean; self_ps: number }[];
  readonly edges: readonly unknown[];
}

const RUN = "jax_cpu_training";
const { open, show, answer } = toolRuns("graph_viewer", async (page) => {
  await page.locator(".graph-node, .graph-line").first().waitFor();
  await settled(page);
});
const nodes = (page: Page) => page.locator(".graph-node");
const parameter = (page: Page, name: string) =>
  new URLSearchParams(new URL(page.url()).hash.slice(1)).get(name);

test("shows the instruction that took most time with what is near it", async () => {
  const graph = await answer<Graph>(RUN);
  const page = await show(RUN);
  await eventually(async () => expect(await nodes(page).count()).toBe(graph.nodes.length));
  expect(await page.locator(".edge").count()).toBe(graph.edges.length);
  const chosen = page.locator(".graph-node[aria-pressed=true]");
  expect(await chosen.locator("title").textContent()).toContain(graph.center_name);
  const details = page.locator(".graph-details");
  await details.locator(".graph-hlo").waitFor();
  expect(await details.locator(".graph-hlo").textContent()).toContain(`%${graph.center_name} = `);
});

test("hops, another center and an opened fusion are in the address", async () => {
  const page = await show(RUN);
  await page.getByRole("button", { name: "4", exact: true }).click();
  await settled(page);
  const wide = await answer<Graph>(RUN, { graph_width: "4" });
  await eventually(async () => expect(await nodes(page).count()).toBe(wide.nodes.length));
  expect(parameter(page, "graph_width")).toBe("4");
  const other = wide.nodes.find(({ name }) => name !== wide.center_name)!;
  await page.getByRole("button", { name: /^Instruction:/ }).click();
  await page.getByRole("combobox").fill(other.name);
  await page.getByRole("option").filter({ hasText: other.name }).first().click();
  await eventually(async () => expect(parameter(page, "node_name")).toBe(other.name));
  const fusion = wide.nodes.find(({ can_open }) => can_open);
  if (!fusion) throw new Error("the sample has no fusion near its slowest instruction");
  const opened = await show(RUN, { graph_width: "4", opened: fusion.name });
  await opened.locator(".graph-cluster").first().waitFor();
  await opened.getByRole("button", { name: `${fusion.name} ✕` }).click();
  await eventually(async () => expect(await opened.locator(".graph-cluster").count()).toBe(0));
});

test("the text of the program is searched, and names lead to their definitions", async () => {
  const page = await show(RUN, { tab: "text" });
  const marked = page.locator(".graph-line.marked");
  const { center_name } = await answer<Graph>(RUN);
  await eventually(async () => expect(await marked.textContent()).toContain(`%${center_name} = `));
  await marked.locator(".graph-name").last().click();
  await eventually(async () => expect(parameter(page, "line")).not.toBeNull());
  await page.getByRole("searchbox").fill("ENTRY %");
  await eventually(async () => expect(await marked.textContent()).toContain("ENTRY %"));
});

test("nodes are walked by keyboard, and an instruction that is not there is said to be", async () => {
  const page = await show(RUN);
  await page.locator(".graph-node[aria-pressed=true]").focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await eventually(async () => expect(parameter(page, "node")).not.toBeNull());
  const { page: broken, problems } = await open(RUN, { node_name: "nothing" });
  await broken.getByRole("alert").waitFor();
  expect(await broken.getByRole("alert").textContent()).toContain("named 'nothing'");
  await settled(broken);
  for (const problem of problems.splice(0)) expect(problem).toContain("400");
});
