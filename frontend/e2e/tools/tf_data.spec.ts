/** tf.data: the verdict, the pipelines and their executions, as the server has them. */
import { expect, test } from "vitest";
import { eventually, settled, textOf } from "../harness/browser";
import { brokenTexts, expectGoodThemes } from "../harness/looks";
import { expectTime } from "../harness/readings";
import { column, rows, TRACES, type Value } from "../harness/servers";
import {
  choose,
  details,
  expectGraph,
  fact,
  node,
  ONE,
  parameter,
  rank,
  summary,
  tfDataRuns,
} from "./tf_data_page";

const { open, show, answer } = tfDataRuns();
const CASES = ["tensorflow_input_bound", "several", ...(TRACES ? ["v100"] : [])];

test.each(CASES)("%s: the summary names host, pipeline, latency and bottleneck", async (run) => {
  const page = await show(run);
  const [graph, pipelines, bottlenecks, advice] = await answer(run, ONE);
  const [worst] = rows(bottlenecks);
  await expect.poll(() => textOf(summary(page))).toContain(String(bottlenecks.p?.summary_message));
  await expect.poll(() => textOf(fact(page, "Host"))).toBe(worst.host);
  await expect
    .poll(() => textOf(fact(page, "Input pipeline")))
    .toContain(String(worst.input_pipeline));
  await eventually(async () =>
    expectTime(await textOf(fact(page, "Maximum latency")), Number(worst.max_latency)),
  );
  await expect.poll(() => textOf(fact(page, "Bottleneck"))).toContain(String(worst.bottleneck));
  await eventually(async () =>
    expectTime(
      await textOf(fact(page, "Bottleneck")),
      Number(worst.usual_held_us ?? worst.self_us),
    ),
  );
  await expect
    .poll(() => textOf(fact(page, "Long name").locator("code").first()))
    .toBe(worst.long_name);
  const isOfWorst = (one: Readonly<Record<string, Value>>) =>
    one.host === worst.host && one.input_pipeline === worst.input_pipeline;
  const titles = rows(advice)
    .filter(isOfWorst)
    .map(({ title }) => title);
  expect(titles.length).toBeGreaterThan(0);
  await expect
    .poll(() => summary(page).locator(".finding-title").allTextContents())
    .toEqual(titles);
  await expect
    .poll(() => page.locator(".tf-pipelines tbody tr").count())
    .toBe(rows(pipelines).length);
  await expectGraph(page, graph);
  await expect.poll(() => brokenTexts(page)).toEqual([]);
});

test("the recorded program's map is its bottleneck, and leads from the summary to the graph", async () => {
  const page = await show("tensorflow_input_bound");
  await expect.poll(() => textOf(fact(page, "Bottleneck").locator("b"))).toBe("ParallelMapV2");
  await summary(page).getByText("How to read it").click();
  const parts = summary(page).locator(".tf-name-parts li");
  await expect
    .poll(() => textOf(parts.first()))
    .toMatch(/^ParallelMapV2 this stage: applies a function/);
  await summary(page).getByRole("button", { name: "Show in graph" }).click();
  await details(page).getByRole("heading", { name: "ParallelMapV2" }).waitFor();
  await expect.poll(() => textOf(details(page).locator(".tag").first())).toBe("Bottleneck");
  await expect.poll(() => node(page, "ParallelMapV2").getAttribute("aria-pressed")).toBe("true");
});

test("code of the advice can be copied", async () => {
  const page = await show("several", {}, { isFresh: true });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const all = summary(page).locator(".findings details");
  for (const one of await all.all())
    await one.evaluate((element) => Object.assign(element, { open: true }));
  const code = summary(page).locator(".tf-code").first();
  await code.getByRole("button", { name: "Copy code" }).click();
  await code.getByRole("status").getByText("Copied").waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    await textOf(code.locator("code")),
  );
});

test("host, pipeline and rank are picked, and their numbers are the server's", async () => {
  const page = await show("several");
  expect(parameter(page, "rank")).toBeNull();
  await choose(page, /^Host: worker-0/, /^worker-1/);
  await page.waitForURL(/graph_host=worker-1/);
  await expectGraph(page, (await answer("several", { ...ONE, graph_host: "worker-1" }))[0]);
  await choose(page, /^Host: worker-1/, /^worker-0/);
  await choose(page, /^Input pipeline: Host:0/, /^Host:1/);
  await page.waitForURL(/input_pipeline=Host%3A1/);
  const here = { graph_host: "worker-0", input_pipeline: "Host:1" };
  await expectGraph(page, (await answer("several", { ...ONE, ...here }))[0]);
  await choose(page, /^Executions by duration/, /^Rank 3/);
  await page.waitForURL(/rank=3/);
  await expectGraph(page, (await answer("several", { ...here, rank: "3" }))[0]);
  await page.getByRole("button", { name: "Faster execution" }).click();
  await page.waitForURL(/rank=4/);
  await settled(page);
  await rank(page).fill("5");
  await rank(page).press("Enter");
  await page.waitForURL(/rank=5/);
  await settled(page);
  const [graph, , , , calls] = await answer("several", { ...here, rank: "5" });
  await expectGraph(page, graph);
  const shown = page.getByRole("button", { name: /^Executions by duration/ });
  await eventually(async () =>
    expectTime(await textOf(shown), Number(column(calls, "duration_us")[5])),
  );
});

test("a click on a pipeline shows it, its columns sort, and its histogram tells its calls", async () => {
  const page = await show("several");
  const table = page.locator(".tf-pipelines");
  const expected = rows((await answer("several", ONE))[1]);
  const names = () =>
    table
      .locator("tbody tr")
      .evaluateAll((all) =>
        all.map(
          (row) =>
            `${row.querySelector(".name")?.getAttribute("title")} ${row.querySelector("th button")?.textContent}`,
        ),
      );
  const by = (id: string) =>
    expected
      .toSorted((a, b) => Number(b[id]) - Number(a[id]))
      .map((one) => `${one.host} ${one.input_pipeline}`);
  await expect.poll(() => names()).toEqual(by("max"));
  await table.getByRole("button", { name: "Calls", exact: true }).click();
  await expect.poll(async () => (await names())[0]).toBe(by("num_calls")[0]);
  await page.waitForURL(/pipelines=calls/);
  await expect
    .poll(() => textOf(table.locator("tbody tr").first().locator("td").nth(1)))
    .toBe("30");
  await expect
    .poll(async () =>
      (await table.locator("tbody tr td:nth-child(4)").allTextContents()).toSorted(),
    )
    .toEqual(expected.map((one) => String(one.num_slow_calls)).toSorted());
  const histogram = table.getByRole("img", { name: /^Calls by latency/ }).first();
  await expect.poll(() => histogram.getAttribute("aria-label")).toMatch(/^[^:]*: 30:/);
  await table.getByRole("button", { name: "Device:0" }).click();
  await page.waitForURL(/input_pipeline=Device/);
  await settled(page);
  await page.getByRole("button", { name: "Input pipeline: Device:0" }).waitFor();
  await expect.poll(() => node(page, "Generator").count()).toBe(1);
});

test("100,000 executions: the slowest are listed, and the field takes every rank", async () => {
  const { page, received } = await open("executions", {}, { isFresh: true });
  await page.locator(".tf-graph").waitFor();
  await expect.poll(() => received(/\/data\?.*tag=tf_data/)).toBeGreaterThan(1000);
  expect(await received(/\/data\?.*tag=tf_data/)).toBeLessThan(60_000);
  await expect.poll(() => textOf(page.locator(".tf-rank-count"))).toBe("of 100,000 executions");
  const list = page.getByRole("button", { name: /^Executions by duration/ });
  await list.click();
  await page.getByText("The 1,000 slowest of 100,000").waitFor();
  await page.getByRole("combobox", { name: "Search Executions" }).fill("999 ");
  await page.getByRole("option", { name: /^Rank 999:/ }).click();
  await page.waitForURL(/rank=999/);
  await rank(page).fill("77777");
  await rank(page).press("Enter");
  await page.waitForURL(/rank=77777/);
  await settled(page);
  // Durations grow by 1 ns from call to call, from 60 µs.
  await eventually(async () => expectTime(await textOf(list), 60 + (100_000 - 1 - 77_777) / 1000));
  await expectGraph(page, (await answer("executions", { rank: "77777" }))[0]);
  await rank(page).fill("123456789");
  await rank(page).press("Enter");
  await page.waitForURL(/rank=99999/);
  await expect.poll(() => rank(page).inputValue()).toBe("99999");
});

test("names of traces are text wherever they come", async () => {
  const page = await show("hostile_input", { node: "2" });
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  await expect
    .poll(() => textOf(details(page).locator("h3")))
    .toBe("<img src=x onerror=window.hacked=1>");
  await expect.poll(() => page.locator("main img").count()).toBe(0);
  await expectGoodThemes(page);
});

test("a trace without tf.data says so", async () => {
  // The answer that there is none.
  const { page } = await open("jax_cpu_training", {}, { forgives: /status of 4\d\d/ });
  const main = page.getByRole("main");
  await main.getByRole("heading", { name: /nothing to show/i }).waitFor();
  await main.getByText(/no tf\.data events/).waitFor();
  await expect.poll(() => brokenTexts(page)).toEqual([]);
});
