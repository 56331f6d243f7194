/** The input pipeline: whether steps wait, on what, and what to do about it. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { clickIn, colorOf, eventually, pixels, release, settled, textOf } from "../harness/browser";
import { brokenTexts, expectGoodLooks, FIRST_LOOK } from "../harness/looks";
import { expectPercent, expectTime } from "../harness/readings";
import { addressOf, ask, column, RECORDED, rows } from "../harness/servers";
import { server } from "../harness/shared_server";
import { type OpenOptions, watchedBrowser } from "../harness/watched_browser";

const TOOL = "input_pipeline_analyzer";
/** Categories of work on the host: properties of the op table, and what they are called. */
const WORK: readonly (readonly [id: string, label: string])[] = [
  ["demanded_file_read_us", "Reading files on demand"],
  ["advanced_file_read_us", "Reading files in advance"],
  ["preprocessing_us", "Preprocessing"],
  ["enqueue_us", "Enqueuing data for the device"],
  ["unclassified_nonequeue_us", "Other"],
];

const open = watchedBrowser();

async function show(run: string, options: OpenOptions = {}): Promise<Page> {
  const { page } = await open(addressOf(server, run, TOOL), options);
  await page.locator(".verdict").waitFor();
  return page;
}

const tables = (run: string, more = {}) => ask(server, run, TOOL, more);
const card = (page: Page, kind: string, title: string) =>
  page.locator(kind).filter({ has: page.getByRole("heading", { name: title, exact: true }) });
const statistic = (page: Page, title: string, name: string) =>
  textOf(
    card(page, ".pipeline-statistic", title).locator("dl > div", { hasText: name }).locator("dd"),
  );

test.each([...RECORDED, "hosts", "one", "many"])(
  "%s: verdict and statistics are the server's",
  async (run) => {
    const page = await show(run);
    const [, steps] = await tables(run);
    await expect
      .poll(() => textOf(page.locator(".verdict")))
      .toContain(String(steps?.p?.input_conclusion));
    const isTruncated = column(steps, "isTruncated");
    const isOutlier = column(steps, "isOutlier");
    const isCounted = isTruncated.map(
      (cut, step) => !isOutlier[step] && (!cut || !isTruncated.includes(false)),
    );
    const counted = (id: string) =>
      column(steps, id)
        .map(Number)
        .filter((_, step) => isCounted[step]);
    for (const [title, times, expectValue] of [
      ["Step time", counted("stepTimeMs").map((ms) => ms * 1000), expectTime],
      ["Waiting for input", counted("waitingPercentAverage"), expectPercent],
    ] as const) {
      const average = times.reduce((sum, time) => sum + time, 0) / times.length;
      const squares = times.reduce((sum, time) => sum + (time - average) ** 2, 0);
      await eventually(async () => {
        const deviation = await statistic(page, title, "Deviation");
        if (times.length < 2) expect(deviation).toContain("one step");
        else expectValue(deviation, Math.sqrt(squares / (times.length - 1)));
      });
      if (title !== "Step time") continue;
      await eventually(async () => expectValue(await statistic(page, title, "Average"), average));
      await eventually(async () =>
        expectValue(await statistic(page, title, "Minimum"), Math.min(...times)),
      );
      await eventually(async () =>
        expectValue(await statistic(page, title, "Maximum"), Math.max(...times)),
      );
    }
    for (const [name, percent] of [
      ["Average", Number(steps?.p?.waiting_percent)],
      ["Minimum", Math.min(...counted("waitingPercentMin"))],
      ["Maximum", Math.max(...counted("waitingPercentMax"))],
    ] as const)
      await eventually(async () =>
        expectPercent(await statistic(page, "Waiting for input", name), percent),
      );
    await expect.poll(() => brokenTexts(page)).toEqual([]);
  },
);

test("the chart has what waits in each step, and no part of it that the overview shows", async () => {
  const page = await show("hosts");
  const chart = page.locator(".step-chart");
  await chart.locator("canvas").waitFor();
  await expect.poll(() => chart.count()).toBe(1);
  const shares = () => pixels(chart.locator("canvas"));
  const [waiting, computing] = [
    await colorOf(page, "--c-input"),
    await colorOf(page, "--c-compute16"),
  ];
  await expect.poll(async () => (await shares()).get(waiting)).toBeGreaterThan(300);
  expect((await shares()).has(computing)).toBe(false);
  await settled(page);
  const area = (await chart.locator(".u-over").boundingBox())!;
  await page.mouse.move(area.x + (9.5 / 12) * area.width, area.y + area.height / 2);
  const said = async () => (await chart.getByRole("slider").getAttribute("aria-valuetext")) ?? "";
  await expect.poll(said).toMatch(/^train 9, Waiting for input [\d.]+ %/);
  const [, steps] = await tables("hosts");
  expectPercent(await said(), Number(column(steps, "waitingPercentAverage")[9]));
  await eventually(async () => {
    const [, most] = (await textOf(page.locator(".step-card"))).split(" to ");
    expectPercent(most, Number(column(steps, "waitingPercentMax")[9]));
  });
  await chart.getByRole("slider").focus();
  await page.keyboard.press("+");
  await page.waitForURL(/zoom=/);
  await page.getByRole("button", { name: "All 12 steps" }).waitFor();
});

test("a click on a step leads to it in the trace", async () => {
  const page = await show("hosts");
  await clickIn(page.locator(".step-chart .u-over").first(), 5.5 / 12);
  await page.waitForURL(/tool=trace_viewer/);
  await page.locator(".trace-event-name > code").getByText("train 5").waitFor();
});

/** Where nothing waits for input the host's side is there on demand. */
const openHost = (page: Page) =>
  page.getByRole("button", { name: "Show the host’s work on input" }).click();

test.each(["tensorflow_cpu_training", "hosts"])(
  "%s: work on the host adds up, its largest part comes with advice",
  async (run) => {
    const page = await show(run);
    if (run === "tensorflow_cpu_training") await openHost(page);
    const [, , ops, , , advice] = await tables(run);
    const time = (id: string) => Number(ops?.p?.[id]);
    const whole = WORK.reduce((sum, [id]) => sum + time(id), 0);
    expect(whole).toBeGreaterThan(0);
    const table = page.getByRole("table", { name: "Parts of the work" });
    const unit = /\((.*)\)/.exec(await textOf(table.locator("thead")))?.[1];
    for (const [id, label] of WORK) {
      const row = table.getByRole("row").filter({ has: page.getByText(label, { exact: true }) });
      await eventually(async () =>
        expectTime(`${await textOf(row.locator("td").nth(0))} ${unit}`, time(id)),
      );
      await eventually(async () =>
        expectPercent(await textOf(row.locator("td").nth(1)), (100 * time(id)) / whole),
      );
    }
    expectTime(`${await textOf(table.locator("tfoot td").first())} ${unit}`, whole);
    const drawn = WORK.filter(([id]) => time(id) > 0).map(([, label]) => label);
    const bar = page.getByRole("img", { name: /^Work on the host/ });
    await expect.poll(() => bar.locator(".bar-part").count()).toBe(drawn.length);
    const dominant = rows(advice).filter(({ is_dominant }) => is_dominant);
    expect(dominant.length).toBeGreaterThan(0);
    const open = page.locator(".pipeline-advice details[open]");
    await expect.poll(() => textOf(open.locator("summary"))).toContain(String(dominant[0].label));
    await expect
      .poll(() => page.locator(".pipeline-advice details").first().getAttribute("open"))
      .toBe("");
    for (const { title, advice: text } of dominant) {
      await expect.poll(() => open.getByText(`${title}.`).isVisible()).toBe(true);
      await expect.poll(() => textOf(open)).toContain(String(text));
    }
    for (const link of await open.getByRole("link").all())
      await expect.poll(() => link.getAttribute("href")).toMatch(/^https:/);
  },
);

test("who waits and who works are apart", async () => {
  const page = await show("hosts");
  const activities = rows((await tables("hosts"))[6]);
  for (const [title, role] of [
    ["Where threads wait", "wait"],
    ["Where threads work", "work"],
  ] as const) {
    const expected = activities.filter((activity) => activity.role === role);
    const lines = card(page, ".pipeline-activity", title).locator("tbody tr");
    await expect.poll(() => lines.count()).toBe(expected.length);
    const titles = () =>
      lines.locator(".name").evaluateAll((all) => all.map((one) => one.getAttribute("title")));
    await expect.poll(titles).toEqual(expected.map(({ name }) => name));
  }
});

test("the table of input ops sorts, filters and exports", async () => {
  const page = await show("tensorflow_cpu_training");
  await openHost(page);
  const [, , ops] = await tables("tensorflow_cpu_training");
  const names = column(ops, "opName").map(String);
  const grid = page.getByRole("treegrid", { name: "Input ops" });
  await grid.getByRole("row").nth(1).waitFor();
  const count = async () => Number(await grid.getAttribute("aria-rowcount")) - 2;
  await expect.poll(() => count()).toBe(names.length);
  const first = () => grid.locator(".grid-body .grid-row .name").first().getAttribute("title");
  for (const [id, title] of [
    ["waitTimeInMs", "Waiting"],
    ["count", "Count"],
  ]) {
    await grid.getByRole("button", { name: new RegExp(`^${title}`) }).click();
    const values = column(ops, id).map(Number);
    const most = Math.max(...values);
    const largest = names.filter((_, index) => values[index] === most);
    await expect.poll(async () => largest.includes((await first()) ?? "")).toBe(true);
  }
  await grid.focus();
  await page.keyboard.press("f");
  await page.getByRole("textbox", { name: "Filter by Input op" }).fill(`=${names[1]}`);
  const matching = names.filter((name) => name === names[1]).length;
  expect(matching).toBeLessThan(names.length);
  await expect.poll(count).toBe(matching);
  await page.waitForURL(/f\.opName=/);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export as CSV" }).click(),
  ]);
  const lines = readFileSync(await download.path(), "utf8")
    .trim()
    .split(/\r?\n/);
  expect(lines.length - 1).toBe(matching);
  expect(lines[0]).toMatch(/Waiting/);
});

test("a trace without input ops says so, and still shows its steps", async () => {
  const page = await show("many");
  await page.getByRole("heading", { name: "No input ops in this trace" }).waitFor();
  await expect.poll(() => page.getByRole("treegrid").count()).toBe(0);
  const sliders = page.getByRole("slider");
  await expect.poll(() => sliders.first().getAttribute("aria-valuemax")).toBe("2999");
  // Every hundredth step waits: the core that does is named.
  const cores = page.locator(".pipeline-cores tbody tr");
  await expect.poll(() => textOf(cores.first())).toMatch(/TPU:0.*30 of 3,000 steps/);
});

test("without steps it says why, and still shows the work on the host", async () => {
  const page = await show("none");
  const [, steps] = await tables("none");
  await expect.poll(() => textOf(page.locator(".verdict"))).toContain("No steps");
  const reason = String(steps?.p?.step_note);
  await expect.poll(() => textOf(page.locator(".no-steps"))).toContain(reason);
  await expect.poll(() => page.getByRole("slider").count()).toBe(0);
  await page.getByRole("table", { name: "Parts of the work" }).waitFor();
  await page.getByRole("treegrid", { name: "Input ops" }).getByRole("row").nth(1).waitFor();
  await expect.poll(() => brokenTexts(page)).toEqual([]);
});

test("looks right", async () => {
  for (const run of ["hosts", "tensorflow_cpu_training"]) {
    const page = await show(run, FIRST_LOOK);
    await page.locator(".pipeline-statistic").first().waitFor();
    await expectGoodLooks(page);
    await release(page);
  }
});
