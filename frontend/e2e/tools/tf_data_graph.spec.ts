/** The graph of an execution: how it is drawn, walked, moved, opened and saved. */
import { readFileSync } from "node:fs";
import type { Download, Locator } from "playwright-core";
import { expect, test } from "vitest";
import { colorOf, eventually, LARGE, settled, textOf, workOfReload } from "../harness/browser";
import { expectGoodLooks, FIRST_LOOK } from "../harness/looks";
import { expectTime } from "../harness/readings";
import { column, rows } from "../harness/servers";
import {
  details,
  expectGraph,
  frame,
  node,
  nodes,
  ONE,
  parameter,
  rank,
  tfDataRuns,
  transform,
} from "./tf_data_page";

const { show, answer } = tfDataRuns();

test("outlines: red and bold, bold, gray and dashed", async () => {
  const page = await show("several", { graph_host: "worker-1", input_pipeline: "Host:0" });
  const [graph] = await answer("several", {
    ...ONE,
    graph_host: "worker-1",
    input_pipeline: "Host:0",
  });
  const styleOf = (kind: string) =>
    page
      .locator(`.graph-node[data-kind=${kind}] .outline`)
      .first()
      .evaluate((rect) => {
        const { stroke, strokeWidth, strokeDasharray } = getComputedStyle(rect);
        return { color: stroke, width: Number.parseFloat(strokeWidth), dashes: strokeDasharray };
      });
  const is = async (name: string) => `rgb(${(await colorOf(page, name)).replaceAll(",", ", ")})`;
  expect(new Set(column(graph, "type"))).toEqual(new Set([0, 1, 2]));
  const [worst, critical, other] = await Promise.all(
    ["bottleneck", "critical", "other"].map(styleOf),
  );
  expect(worst).toMatchObject({ color: await is("--danger"), dashes: "none" });
  expect(critical).toMatchObject({ color: await is("--text"), dashes: "none" });
  expect(other.color).toBe(await is("--control-border"));
  expect(other.dashes).toBe("5px, 4px");
  expect(worst.width).toBeGreaterThan(critical.width);
  expect(critical.width).toBeGreaterThan(2 * other.width);
  await expect
    .poll(() => page.getByRole("list", { name: "Legend" }).getByRole("listitem").count())
    .toBe(5);
});

test("from the sources at the left to what the program calls at the right", async () => {
  const page = await show("tensorflow_input_bound");
  const [graph] = await answer("tensorflow_input_bound", ONE);
  await eventually(async () => {
    const left = new Map<string, number>();
    for (const row of rows(graph)) {
      const box = (await node(page, String(row.iterator)).boundingBox())!;
      left.set(String(row.name), box.x);
      expect(box.y).toBeGreaterThan(0);
    }
    for (const row of rows(graph)) {
      if (row.parent === "") expect(left.get(String(row.name))).toBe(Math.max(...left.values()));
      else expect(left.get(String(row.name))).toBeLessThan(left.get(String(row.parent))!);
    }
  });
});

test("the details of an iterator, and the way to its events in the trace", async () => {
  const page = await show("tensorflow_input_bound");
  const [graph] = await answer("tensorflow_input_bound", ONE);
  const map = rows(graph).find(({ iterator }) => iterator === "ParallelMapV2")!;
  const root = rows(graph).find(({ parent }) => parent === "")!;
  await node(page, "ParallelMapV2").click();
  await page.waitForURL(new RegExp(`node=${map.name}`));
  const row = (label: string) =>
    details(page)
      .locator(".tf-times > div")
      .filter({ has: page.locator("dt", { hasText: label }) })
      .locator("dd");
  await eventually(async () =>
    expectTime(await textOf(row("Total duration")), Number(map.total_us)),
  );
  await eventually(async () => expectTime(await textOf(row("Self time")), Number(map.self_us)));
  await eventually(async () =>
    expectTime(await textOf(row("Waiting").first()), Number(map.wait_us)),
  );
  await eventually(async () =>
    expectTime(await textOf(row("Waiting for a pool")), Number(map.queue_us)),
  );
  await eventually(async () => expectTime(await textOf(row("Worker time")), Number(map.worker_us)));
  const parameters = JSON.parse(String(map.parameters)) as Record<string, unknown>;
  await expect
    .poll(() => details(page).locator(".tf-parameters dt").allTextContents())
    .toEqual(Object.keys(parameters));
  await expect
    .poll(() => details(page).locator(".tf-code, .finding-title").count())
    .toBeGreaterThan(0);
  await details(page).getByRole("link", { name: "Show its events in trace" }).click();
  await page.waitForURL(/tool=trace_viewer/);
  expect(parameter(page, "q")).toBe(`iterator:${map.long_name}`);
  const us = (name: string) => Number(parameter(page, name)) * 1000;
  await expect
    .poll(() => us("from_ms"))
    .toBeCloseTo(Math.min(Number(map.start_us), Number(root.start_us)), 1);
  await expect
    .poll(() => us("to_ms"))
    .toBeCloseTo(Number(root.start_us) + Number(root.total_us), 1);
  // Its events are there, and some of them in what is in view.
  await expect.poll(() => textOf(page.locator(".trace-count"))).toMatch(/^[1-9]\d* hits/);
  await page.goBack();
  await details(page).getByRole("heading", { name: "ParallelMapV2" }).waitFor();
  await details(page).getByRole("button", { name: "Close the details" }).click();
  await expect.poll(() => details(page).count()).toBe(0);
  await expect.poll(() => parameter(page, "node")).toBeNull();
});

test("the address holds all of it", async () => {
  const view = { graph_host: "worker-0", input_pipeline: "Host:1", rank: "2", node: "14" };
  const page = await show("several", { ...view, pipelines: "-calls", look: "-20,-30,1.5" });
  const check = async () => {
    await details(page).getByRole("heading", { name: "ParallelMapV2" }).waitFor();
    await expect.poll(() => rank(page).inputValue()).toBe("2");
    await expect.poll(() => transform(page)).toContain("scale(1.5)");
    const first = page.locator(".tf-pipelines tbody tr").first();
    await expect.poll(() => textOf(first.locator("td").nth(1))).toBe("6");
    await expect.poll(() => page.locator('th[aria-sort="ascending"]').count()).toBe(1);
  };
  await check();
  await page.reload();
  await check();
  await page.getByRole("button", { name: "Menu of “Input pipeline graph”" }).click();
  await page.getByRole("menuitem", { name: "As table" }).click();
  await page.waitForURL(/graph=table/);
  await page.reload();
  await page.getByRole("treegrid", { name: "Iterators of the execution" }).waitFor();
});

test("by keyboard: from iterator to iterator, to their details and back, larger and smaller", async () => {
  const page = await show("tensorflow_input_bound", {}, LARGE);
  await frame(page).focus();
  const before = await transform(page);
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => transform(page)).not.toBe(before);
  await page.keyboard.press("+");
  await expect.poll(() => transform(page)).toContain("scale(1.25)");
  await page.keyboard.press("0");
  await expect.poll(() => transform(page)).toBe(before);
  // One of the iterators is in the order of Tab: the bottleneck.
  await page.keyboard.press("Tab");
  const focused = () =>
    page.evaluate(() => document.activeElement?.querySelector("text")?.textContent ?? "");
  await expect.poll(() => focused()).toBe("ParallelMapV2");
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => focused()).toBe("TensorSlice");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => focused()).toBe("ForeverRepeat");
  await page.keyboard.press("Enter");
  await details(page).getByRole("heading", { name: "ForeverRepeat" }).waitFor();
  await expect.poll(() => focused()).toBe("ForeverRepeat");
  await page.keyboard.press("Escape");
  await expect.poll(() => details(page).count()).toBe(0);
  const label = /^ForeverRepeat, on the critical path, self time .*, 8 calls/;
  await page.getByRole("button", { name: label }).waitFor();
});

test("by mouse: dragged, zoomed with Ctrl and the wheel, fitted; a drag is not a click", async () => {
  const page = await show("tensorflow_input_bound", {}, { width: 1280, height: 1000 });
  const box = (await node(page, "BatchV2").boundingBox())!;
  await page.mouse.move(box.x + 20, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y + 50, { steps: 4 });
  await page.mouse.up();
  const moved = async () => {
    const { x, y } = (await node(page, "BatchV2").boundingBox())!;
    return [x - box.x, y - box.y].map(Math.round);
  };
  await expect.poll(moved).toEqual([40, 30]);
  await page.waitForURL(/look=/);
  await expect.poll(() => details(page).count()).toBe(0);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -200);
  await page.keyboard.up("Control");
  await expect
    .poll(async () => (await node(page, "BatchV2").boundingBox())!.width)
    .toBeGreaterThan(box.width * 1.2);
  await page.getByRole("button", { name: "Fit the graph (0)" }).click();
  await eventually(async () => {
    const inside = (await frame(page).boundingBox())!;
    for (const one of await nodes(page).all()) {
      const { x, width } = (await one.boundingBox())!;
      expect(x).toBeGreaterThanOrEqual(inside.x);
      expect(x + width).toBeLessThanOrEqual(inside.x + inside.width);
    }
  });
});

test("pictures and tables of the graph are saved", async () => {
  const page = await show("several");
  const save = async (item: string): Promise<Download> => {
    await page.getByRole("button", { name: "Menu of “Input pipeline graph”" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: item }).click(),
    ]);
    return download;
  };
  const [graph] = await answer("several", ONE);
  const svg = readFileSync(await (await save("Save as SVG")).path(), "utf8");
  for (const type of column(graph, "iterator")) expect(svg).toContain(`>${type}</text>`);
  expect(svg).not.toContain("var(");
  const png = readFileSync(await (await save("Save as PNG")).path());
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  const csv = readFileSync(await (await save("Save as CSV")).path(), "utf8");
  expect(csv.trim().split(/\r?\n/).length).toBe(rows(graph).length + 1);
  expect(csv).toContain(String(column(graph, "name")[2]));
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export as CSV" }).click(),
  ]);
  expect(
    readFileSync(await download.path(), "utf8")
      .trim()
      .split(/\r?\n/).length,
  ).toBe(5);
});

test("files that are interleaved are one node of each stage, and their calls are all found", async () => {
  const page = await show("files");
  const [graph] = await answer("files", ONE);
  await expectGraph(page, graph);
  expect(column(graph, "iterators")).toEqual([1, 1, 40, 40, 1]);
  await expect
    .poll(() => node(page, "TFRecord").locator("text").allTextContents())
    .toContain("40 copies");
  await expect.poll(() => node(page, "TFRecord").getAttribute("data-kind")).toBe("bottleneck");
  await expect.poll(() => page.locator(".tf-hidden").count()).toBe(0);
  await node(page, "TFRecord").click();
  await details(page).getByText("40 iterators of this stage, combined").waitFor();
  await details(page).getByRole("link", { name: "Show its events in trace" }).click();
  await page.waitForURL(/tool=trace_viewer/);
  await expect.poll(() => textOf(page.locator(".trace-count"))).toMatch(/^120 hits/);
});

test("of thousands of iterators the worst are drawn, the others when they are asked for", async () => {
  const page = await show("thousands");
  const work = await workOfReload(page, async () => {
    await frame(page).waitFor();
    await settled(page);
  });
  expect(work).toBeLessThan(3000);
  const note = page.locator(".tf-hidden");
  await expect.poll(() => textOf(note)).toMatch(/10 of 3,002 iterators are drawn/);
  await expect.poll(() => node(page, "Source2999").count()).toBe(1);
  const stub = page.getByRole("button", { name: /^Show more of 2,992 iterators below Zip/ });
  await stub.focus();
  await stub.press("Enter");
  await expect.poll(() => textOf(note)).toMatch(/70 of 3,002/);
  await page.waitForURL(/open=2/);
  await page.getByRole("button", { name: "Menu of “Input pipeline graph”" }).click();
  await page.getByRole("menuitem", { name: "As table" }).click();
  const grid = page.getByRole("treegrid", { name: "Iterators of the execution" });
  await expect.poll(() => grid.getAttribute("aria-rowcount")).toBe("3004");
});

test.each([
  ["several", {}],
  ["several", { graph_host: "worker-0", input_pipeline: "Host:1", node: "14" }],
  ["tensorflow_input_bound", { graph: "table" }],
  ["thousands", {}],
])("%s %o looks right", async (run, view) => {
  const page = await show(run, view, FIRST_LOOK);
  await expectGoodLooks(page);
});

/** The wheel alone scrolls the page, not the graph. */
test("the page scrolls over the graph", async () => {
  const page = await show("several", {}, { width: 1280, height: 720 });
  const at = () => page.locator("main").evaluate((element) => element.scrollTop);
  const over = async (element: Locator) => {
    await element.scrollIntoViewIfNeeded();
    const box = (await element.boundingBox())!;
    await page.mouse.move(box.x + 30, box.y + 30);
  };
  await over(frame(page));
  const before = await at();
  await page.mouse.wheel(0, -300);
  await expect.poll(at).toBeLessThan(before);
});
