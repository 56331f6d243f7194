/** What a person does on the pages, one step after another, on a drawn GPU trace and a sample. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { overflowsSideways } from "../harness/looks";
import { server } from "../harness/shared_server";
import { type OpenOptions, watchedBrowser } from "../harness/watched_browser";

const READY = ".grid-row.active";
const KERNELS = "#run=gpu&tool=kernel_stats";
const LONG = "bert_pretraining_on_eight_gpus_with_mixed_precision";
const OPS = "#run=tensorflow_cpu_training&tool=framework_op_stats";

const open = watchedBrowser();

async function ready(hash: string, options?: OpenOptions, isReady = READY): Promise<Page> {
  const { page } = await open(server.page + hash, options);
  await page.waitForSelector(isReady);
  return page;
}

async function names(page: Page): Promise<(string | null)[]> {
  return page
    .locator(".grid-body .grid-row .name")
    .evaluateAll((all) => all.map((name) => name.getAttribute("title")));
}

test("mangled names are readable, and the raw name is there", async () => {
  const page = await ready(KERNELS);
  await expect
    .poll(() => page.locator('.grid .name:has-text("EigenMetaKernel<float, 4>")').count())
    .toBe(1);
  await expect
    .poll(() => names(page))
    .toContain("_ZN5Eigen8internal15EigenMetaKernelIfLi4EEEvPT_i");
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
  await expect.poll(() => page.textContent(".table-count")).toBe(filtered);
  await expect.poll(() => page.isChecked("text=Include idle time")).toBe(true);
});

test("a slice of a chart filters the table, and Back returns from another page", async () => {
  const page = await ready("#run=gpu&tool=framework_op_stats");
  await page.click(".legend button >> nth=0");
  await page.waitForURL(/f\.operation=%3D/);
  await page.click('.tab:has-text("Kernels")');
  await page.waitForSelector('h1:has-text("GPU kernel stats")');
  await page.waitForSelector(READY);
  await page.goBack();
  await page.waitForSelector('h1:has-text("Op stats")');
  expect(page.url()).toMatch(/f\.operation=%3D/);
});

test("what is chosen just before Back, a reload or a way out stays in the history", async () => {
  const page = await ready("#run=gpu&tool=overview_page", {}, ".tile");
  const idle = page.getByRole("checkbox", { name: /idle/i });
  /** Twice, since the first change is written at once; leaves within the same task. */
  const chooseAnd = (leave: string) =>
    idle.evaluate(async (input, then) => {
      for (let times = 0; times < 3; times++) {
        (input as HTMLInputElement).click();
        await Promise.resolve();
      }
      if (then === "back") history.back();
      else location.href = "about:blank";
    }, leave);
  await page.locator(".tabs").getByText("Op stats", { exact: true }).click();
  await page.waitForSelector(READY);
  await chooseAnd("back");
  await page.locator(".tile").first().waitFor();
  await page.goForward();
  await expect.poll(() => idle.isChecked()).toBe(true);
  await expect.poll(() => page.url()).toContain("idle=1");
  await idle.click();
  await page.reload();
  await page.waitForSelector(READY);
  await expect.poll(() => idle.isChecked()).toBe(false);
  await chooseAnd("other");
  await page.waitForURL("about:blank");
  await page.goBack();
  await expect.poll(() => idle.isChecked()).toBe(true);
});

test("the palette goes to a kernel by its name", async () => {
  const page = await ready(KERNELS);
  await page.keyboard.press("Control+k");
  await page.locator("dialog [role=combobox]:focus").waitFor();
  await page.keyboard.type("relu");
  await page.locator("dialog [role=option]", { hasText: "relu_kernel" }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/f\.kernel_name=%3Drelu_kernel/);
  await expect.poll(() => page.textContent(".table-count")).toMatch(/^1 of/);
});

test("the palette finds ops, kernels, steps and events from any page, and goes there", async () => {
  const page = await ready("#run=gpu&tool=overview_page", {}, ".tile");
  const find = async (query: string, kind: string, name: string) => {
    await page.keyboard.press("Control+k");
    await page.locator("dialog [role=combobox]:focus").waitFor();
    await page.keyboard.type(query);
    const option = page.locator("dialog [role=option]", { hasText: name });
    await option
      .filter({ has: page.locator(`.option-kind:text-is("${kind}")`) })
      .first()
      .click();
  };
  await find("relu_k", "Kernel", "relu_kernel");
  await page.waitForURL(/tool=kernel_stats.*f\.kernel_name=%3Drelu_kernel/);
  await page.waitForSelector(READY);
  await find("relu_k", "Event", "relu_kernel");
  await page.waitForURL(/tool=trace_viewer.*q=whole%3Arelu_kernel/);
  await page.goBack();
  await page.waitForSelector(READY);
  await find("tensorflow stats", "Page", "Op stats, TensorFlow stats");
  await page.waitForURL(/tool=framework_op_stats/);
  await page.waitForSelector(READY);
  await find("dense", "Op", "model/dense/MatMul");
  await page.waitForURL(/tool=framework_op_stats.*f\.operation=%3Dmodel%2Fdense%2FMatMul/);
  await page.waitForSelector(READY);
  await page.goto(server.page + OPS);
  await page.waitForSelector(READY);
  await find("train 7", "Step", "train 7");
  await page.waitForURL(/tool=overview_page.*step=/);
  await page.locator(".tile").first().waitFor();
});

test("a long name of a run is cut before a page leaves the bar, and there is one ?", async () => {
  const page = await ready(`#run=${LONG}&tool=overview_page`, { width: 1280 }, ".tile");
  const isCut = (element: Element) => element.scrollWidth > element.clientWidth;
  const tabs = page.locator(".tabs .tab");
  for (const name of ["Overview", "Op stats", "Kernels", "Trace"]) {
    await expect.poll(() => tabs.allTextContents()).toContain(name);
  }
  await expect
    .poll(() => tabs.evaluateAll((all) => all.map((tab) => tab.scrollWidth > tab.clientWidth)))
    .not.toContain(true);
  const picker = page.getByRole("button", { name: `Run ${LONG}` });
  await expect.poll(() => picker.locator(".picker-value").evaluate(isCut)).toBe(true);
  expect(await picker.getAttribute("title")).toBe(`Run ${LONG}`);
  await expect.poll(() => page.locator('button:text-is("?")').count()).toBe(1);
  await page.getByRole("button", { name: "Device busy" }).click();
  await page.locator(".why-text dt", { hasText: "Formula" }).waitFor();
});

test("More holds what does not fit: pages without data, then details, and the page that is shown has its name there", async () => {
  const page = await ready(`#run=${LONG}&tool=overview_page`, { width: 1100 }, ".tile");
  const tabs = page.locator(".tabs .tab");
  const more = page.locator(".tabs").getByRole("button", { name: "more pages" });
  await expect.poll(() => tabs.allTextContents()).toContain("Op stats");
  await expect.poll(() => tabs.allTextContents()).toContain("Trace");
  await expect.poll(() => tabs.allTextContents()).not.toContain("Roofline");
  await expect
    .poll(() => tabs.evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth)))
    .toEqual([]);
  await expect.poll(() => overflowsSideways(page)).toBe(false);
  await page.setViewportSize({ width: 2000, height: 720 });
  await expect.poll(() => more.count()).toBe(0);
  await expect.poll(() => tabs.count()).toBe(13);
  await page.setViewportSize({ width: 900, height: 720 });
  await more.click();
  await page.getByRole("menuitemradio", { name: /^Roofline/ }).waitFor();
  await page.keyboard.press("Escape");
  await page.goto(`${server.page}#run=${LONG}&tool=roofline_model`);
  await expect.poll(() => more.textContent()).toMatch(/^Roofline/);
});

test("a narrow window keeps every page within reach", async () => {
  const page = await ready(KERNELS, { width: 640 });
  await expect.poll(() => overflowsSideways(page)).toBe(false);
  await expect.poll(() => page.locator(".tabs .tab").count()).toBeGreaterThan(0);
});
