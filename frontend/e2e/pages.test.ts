import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findBarriers, type Site, startSite } from "./server";

let site: Site;

beforeAll(async () => {
  site = await startSite();
});

afterAll(async () => {
  await site?.close();
});

const READY = ".grid-row.active";
const KERNELS = "#run=gpu&tool=kernel_stats";
const OPS = "#run=tensorflow_cpu_training&tool=framework_op_stats";

async function ready(hash: string, options?: Parameters<Site["open"]>[1]): Promise<Page> {
  const page = await site.open(hash, options);
  await page.waitForSelector(READY);
  return page;
}

async function names(page: Page): Promise<(string | null)[]> {
  return page
    .locator(".grid-body .grid-row .name")
    .evaluateAll((all) => all.map((name) => name.getAttribute("title")));
}

test("the newest run opens by itself, at an address that can be shared", async () => {
  const page = await ready("");
  await page.waitForURL(/#run=.+&tool=.+/);
  const again = await ready(new URL(page.url()).hash);
  expect(await again.textContent("h1")).toBe(await page.textContent("h1"));
});

test.each([
  ["ops, light", OPS, false],
  ["ops, dark", OPS, true],
  ["kernels, light", KERNELS, false],
  ["kernels, dark", KERNELS, true],
])("%s: nothing bars the way", async (_, hash, isDark) => {
  expect(await findBarriers(await ready(hash, { isDark }))).toEqual([]);
});

test("names from a trace are text, mangled names are readable, the raw name is there", async () => {
  const page = await ready(KERNELS);
  expect(await page.locator("main img").count()).toBe(0);
  expect(await page.locator('.grid .name:has-text("<img")').count()).toBe(1);
  expect(await page.locator('.grid .name:has-text("EigenMetaKernel<float, 4>")').count()).toBe(1);
  expect(await names(page)).toContain("_ZN5Eigen8internal15EigenMetaKernelIfLi4EEEvPT_i");
});

test("a kernel row opens to its launch shape", async () => {
  const page = await ready(KERNELS);
  await page.focus(".grid");
  await page.keyboard.press("Enter");
  const detail = await page.textContent(".grid-detail");
  for (const text of ["volta_h884gemm_128x128", "1024,1,1", "160,1,1"])
    expect(detail).toContain(text);
});

test("filters, sort and toggles survive a reload", async () => {
  const page = await ready(OPS);
  const all = await page.textContent(".table-count");
  await page.keyboard.press("f");
  await page.fill('[aria-label="Filter by Operation"]', "dense");
  await page.click('.sort:has-text("Occurrences")');
  await page.check("text=Include idle time");
  await page.waitForURL(/f\.operation=dense.*idle=1.*sort=-occurrences/);
  const filtered = await page.textContent(".table-count");
  expect(filtered).not.toBe(all);
  await page.reload();
  await page.waitForSelector(READY);
  expect(await page.textContent(".table-count")).toBe(filtered);
  expect(await page.isChecked("text=Include idle time")).toBe(true);
});

test("a bad pattern is an explanation, not a failure", async () => {
  const page = await ready(`${OPS}&f.operation=${encodeURIComponent("/([/")}`);
  expect(await page.textContent(".filter-error")).toMatch(/regular expression/i);
});

test("a slice of a chart filters the table, and Back returns from another page", async () => {
  const page = await ready("#run=gpu&tool=framework_op_stats");
  await page.click(".legend button >> nth=0");
  await page.waitForURL(/f\.operation=%3D/);
  await page.click('.tab:has-text("Kernels")');
  await page.waitForSelector('h1:has-text("GPU kernel stats")');
  await page.waitForSelector(READY);
  await page.goBack();
  await page.waitForSelector('h1:has-text("TensorFlow stats")');
  expect(page.url()).toMatch(/f\.operation=%3D/);
});

test("a page without data says why, in the bar and in its place", async () => {
  const page = await site.open("#run=jax_cpu_training&tool=kernel_stats");
  await page.waitForSelector(".message");
  expect(await page.textContent(".message h1")).toContain("GPU kernel stats");
  expect((await page.textContent(".message p"))?.length).toBeGreaterThan(20);
});

test("the CSV has the rows that are shown, safe for spreadsheets", async () => {
  const page = await ready(
    "#run=gpu&tool=framework_op_stats&cols=operation,occurrences&sort=operation",
  );
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.click("text=Export as CSV"),
  ]);
  expect(download.suggestedFilename()).toBe("framework_op_stats_gpu_all.csv");
  const lines = readFileSync(await download.path(), "utf8")
    .trim()
    .split("\r\n");
  expect(lines[0]).toBe("Operation,Occurrences");
  expect(lines.some((line) => line.startsWith("=cmd"))).toBe(false);
});

test("the palette goes to a kernel by its name", async () => {
  const page = await ready(KERNELS);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("relu");
  await page.keyboard.press("Enter");
  await page.waitForURL(/f\.kernel_name=%3Drelu_kernel/);
  expect(await page.textContent(".table-count")).toMatch(/^1 of/);
});

test("a narrow window keeps every page within reach", async () => {
  const page = await ready(KERNELS, { width: 640 });
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBeLessThanOrEqual(0);
  expect(await page.locator(".tabs .tab").count()).toBeGreaterThan(0);
});

// The last of the file: it looks back at all the others.
test("nothing was asked of other sites, nothing failed", () => {
  expect(site.complaints).toEqual([]);
});
