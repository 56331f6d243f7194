/** The overview: what it says is what the server says, and everything on it leads somewhere. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  brokenTexts,
  clickIn,
  colorOf,
  eventually,
  expectGoodLooks,
  LOOKS,
  pixels,
  release,
  settled,
  textOf,
} from "./browser";
import { expectNumber, expectPercent, expectTime } from "./readings";
import { addressOf, ask, column, RECORDED, rows } from "./servers";
import { server } from "./shared_server";
import { type OpenOptions, watchedBrowser } from "./watched_browser";

const TOOL = "overview_page";
const MADE = ["hosts", "one", "none", "many"];
/** Its first step compiles, and each fifth is slow. */
const SLOW = "slow";
/** Series of the step chart from the top: their colours, and the columns they are made of. */
const SERIES: readonly (readonly [label: string, color: string, ids: readonly string[]])[] = [
  ["All others", "idle", ["otherTimeMs"]],
  ["Compilation", "compile", ["compileTimeMs"]],
  ["Output", "output", ["outfeedTimeMs"]],
  ["Input", "input", ["infeedTimeMs"]],
  ["Kernel launch", "launch", ["kernelLaunchTimeMs"]],
  ["Host compute", "host", ["hostComputeTimeMs"]],
  ["Device collectives", "collective", ["deviceCollectivesTimeMs"]],
  ["Host callbacks", "callback", ["hostCallbackTimeMs"]],
  ["Host transfer", "transfer", ["hostTransferTimeMs"]],
  ["Device to device", "copy", ["deviceToDeviceTimeMs"]],
  [
    "Device compute, ≥ 32 bit",
    "compute32",
    ["deviceComputeTf32Ms", "deviceCompute32Ms", "deviceCompute64Ms"],
  ],
  ["Device compute, unknown", "compute", ["deviceComputeUnknownMs"]],
  ["Device compute, ≤ 16 bit", "compute16", ["deviceCompute16Ms", "deviceCompute8Ms"]],
];

const open = watchedBrowser();

async function show(run: string, view = {}, options: OpenOptions = {}) {
  const { page } = await open(addressOf(server, run, TOOL, view), options);
  await page.locator(".tile").first().waitFor();
  return page;
}

const tables = (run: string, more = {}) => ask(server, run, TOOL, more);
const slider = (page: Page) => page.getByRole("slider", { name: "Step time: step" });
const canvas = (page: Page) => page.locator(".step-chart canvas");
const tile = (page: Page, name: string) => page.getByRole("group", { name, exact: true });

/** Times in µs of a step's series that anything was measured of, from the top. */
async function seriesOf(run: string, more = {}): Promise<(readonly [string, string, number[]])[]> {
  const [, steps] = await tables(run, more);
  return SERIES.map(([label, color, ids]) => {
    const columns = ids.map((id) => column(steps, id).map(Number));
    const sums = column(steps, "stepnum").map((_, step) =>
      columns.reduce((sum, values) => sum + (values[step] ?? 0) * 1000, 0),
    );
    return [label, color, sums] as const;
  }).filter(([, , times]) => times.some((time) => time > 0));
}

/** The middle of a step's column, from the left edge of the canvas, and its place on the page. */
async function columnAt(page: Page, step: number, count: number) {
  await settled(page);
  const area = (await page.locator(".step-chart .u-over").boundingBox())!;
  const drawn = (await canvas(page).boundingBox())!;
  const x = area.x + ((step + 0.5) / count) * area.width;
  return { x, y: area.y + area.height / 2, inCanvas: x - drawn.x };
}

test.each([...RECORDED, ...MADE])("%s: verdict and tiles are the server's", async (run) => {
  const page = await show(run);
  const found = await tables(run);
  const figures = new Map(rows(found[8]).map((row) => [row.id, row]));
  const number = (id: string) => Number(figures.get(id)?.value ?? Number.NaN);
  await settled(page);
  const verdict = await textOf(page.locator(".verdict"));
  const findings = rows(found[7]);
  const finding =
    findings.find(({ severity }) => severity === "high" || severity === "moderate") ?? findings[0];
  const stepMs = number("step_time_average");
  if (Number.isNaN(stepMs)) expect(verdict).toContain("Step times are unknown");
  else if (finding) {
    expect(verdict).toContain(String(finding.title));
    const [, saved] = verdict.split("At most ");
    if (finding.gain_ms) {
      expectTime(saved, Number(finding.gain_ms) * 1000);
      expectTime(saved.split(" of ")[1], stepMs * 1000);
    }
  }
  await expect.poll(() => page.locator(".tile").count()).toBe(5);
  const value = async (name: string) => textOf(tile(page, name).locator(".figure-value"));
  const reasons: [string, string][] = [];
  const isCpu = figures.has("host_compute");
  for (const [name, id] of [
    [number("slow_steps") > 0 ? "Typical step" : "Average step", "step_time_average"],
    ["Waiting for input", "waiting_for_input"],
    isCpu ? ["Host compute", "host_compute"] : ["Device busy", "device_busy"],
  ]) {
    const text = await value(name);
    if (Number.isNaN(number(id))) reasons.push([name, id]);
    else if (id === "step_time_average") expectTime(text, number(id) * 1000);
    else expectPercent(text, number(id));
  }
  if (isCpu) {
    expectNumber(await value("Threads at work"), number("threads_at_work"));
    await expect.poll(() => page.locator(".tile .figure-value", { hasText: "–" }).count()).toBe(0);
    await expect.poll(() => brokenTexts(page)).toEqual([]);
    return;
  }
  const precisions = ["8", "16", "unknown", "tf32", "32", "64"];
  const shares = precisions.map((id) => number(`device_compute_${id}`) || 0);
  if (Math.max(...shares) > 0)
    await eventually(async () => expectPercent(await value("Precision"), Math.max(...shares)));
  else reasons.push(["Precision", "device_compute_16"]);
  if (Number.isNaN(number("peak_memory"))) reasons.push(["Peak memory", "peak_memory"]);
  else await expect.poll(() => value("Peak memory")).toMatch(/^[\d.]+ [KMGT]?i?B$/);
  for (const [name, id] of reasons) {
    await expect.poll(() => value(name)).toBe("–");
    const reason = String(figures.get(id)?.reason ?? "");
    await expect
      .poll(async () => (await textOf(tile(page, name))).toLowerCase())
      .toContain(reason.toLowerCase());
    expect(reason).not.toBe("");
  }
  await expect.poll(() => brokenTexts(page)).toEqual([]);
});

describe("the step chart", () => {
  test("has a column per step, of the right colours and heights", async () => {
    const page = await show("hosts");
    await canvas(page).waitFor();
    const series = await seriesOf("hosts");
    expect(series.map(([label]) => label)).toEqual([
      "All others",
      "Input",
      "Device collectives",
      "Device compute, ≥ 32 bit",
      "Device compute, ≤ 16 bit",
    ]);
    const colors = await Promise.all(series.map(([, color]) => colorOf(page, `--c-${color}`)));
    const checkColumn = async (step: number) => {
      const { inCanvas } = await columnAt(page, step, 12);
      const seen = await pixels(canvas(page), inCanvas);
      const heights = colors.map((color) => seen.get(color) ?? 0);
      expect([...seen.keys()].filter((color) => colors.includes(color))).toEqual(colors);
      const times = series.map(([, , all]) => all[step]);
      const whole = times.reduce((sum, time) => sum + time, 0);
      const height = heights.reduce((sum, pixel) => sum + pixel, 0);
      expect(height).toBeGreaterThan(150);
      // Edges between the parts take a pixel or two of each.
      times.forEach((time, at) => {
        expect(Math.abs(heights[at] - (time / whole) * height)).toBeLessThan(5);
      });
    };
    for (const step of [0, 7]) await eventually(() => checkColumn(step));
  });

  test("tells the parts of the step under the pointer", async () => {
    const page = await show("hosts");
    const series = await seriesOf("hosts");
    for (const step of [3, 11]) {
      const { x, y } = await columnAt(page, step, 12);
      await page.mouse.move(x, y);
      const card = page.locator(".step-card");
      await card.getByText(`train ${step}`, { exact: true }).waitFor();
      const whole = series.reduce((sum, [, , times]) => sum + times[step], 0);
      await eventually(async () =>
        expectTime(await textOf(card.locator(".step-card-head b").nth(1)), whole),
      );
      await expect.poll(() => card.locator("tr").count()).toBe(series.length);
      const lines = await card.locator("tr").all();
      for (const [at, [label, , times]] of series.entries()) {
        const cells = await lines[at].locator("td").allTextContents();
        expect(cells[0]).toBe(label);
        expectTime(cells[1], times[step]);
        expectPercent(cells[2], (times[step] / whole) * 100);
      }
      expect((await textOf(card)).includes("Not fully recorded")).toBe(step === 11);
    }
    await page.mouse.move(5, 5);
    await page.locator(".step-card").waitFor({ state: "detached" });
  });

  test("hides a series by its legend, and the address remembers it", async () => {
    const page = await show("hosts");
    const red = await colorOf(page, "--c-input");
    const drawn = async () => (await pixels(canvas(page))).get(red) ?? 0;
    await expect.poll(drawn).toBeGreaterThan(1000);
    const input = page.locator(".step-legend").getByRole("button", { name: "Input" });
    await input.click();
    await expect.poll(drawn).toBe(0);
    await expect.poll(() => input.getAttribute("aria-pressed")).toBe("false");
    await page.waitForURL(/hide=input/);
    await page.reload();
    await canvas(page).waitFor();
    await expect.poll(async () => (await pixels(canvas(page))).size).toBeGreaterThan(5);
    await expect.poll(() => drawn()).toBe(0);
    await input.click();
    await expect.poll(drawn).toBeGreaterThan(1000);
  });

  test("goes from step to step by the keyboard, and opens one", async () => {
    const page = await show("hosts");
    await canvas(page).waitFor();
    const said = () => slider(page).getAttribute("aria-valuetext");
    await slider(page).focus();
    for (const [key, text] of [
      ["Home", /^train 0, 120 µs, .*Input 30\.0 µs/],
      ["ArrowRight", /^train 1, /],
      ["PageDown", /^train 11, .*not fully recorded$/],
      ["ArrowLeft", /^train 10, /],
      ["End", /^train 11, /],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(said).toMatch(text);
    }
    await page.keyboard.press("Enter");
    await page.waitForURL(/tool=trace_viewer/);
    await page.locator(".trace-event-name > code").getByText("train 11").waitFor();
    await page.goBack();
    await canvas(page).waitFor();
  });

  test("shows what the step of the address is made of, with the way to it in the trace", async () => {
    const page = await show("hosts", { step: "11" });
    const parts = page.locator(".step-parts");
    await parts.getByRole("heading", { name: "train 11" }).waitFor();
    await parts.getByText("Not fully recorded").waitFor();
    await expect
      .poll(() => parts.getByRole("link", { name: "In the trace" }).getAttribute("href"))
      .toMatch(/tool=trace_viewer&hosts=worker-0&from_ms=[\d.]+&step=train\+11&to_ms=[\d.]+$/);
    await parts.getByRole("button", { name: "Average step" }).click();
    await parts.getByRole("heading", { name: "Average step" }).waitFor();
    await expect.poll(() => page.url()).not.toContain("step=11");
  });

  test("leads from a column to its step, whose parts the page tells, too", async () => {
    const page = await show("hosts");
    await clickIn(page.locator(".step-chart .u-over"), 2.5 / 12);
    await page.waitForURL(/tool=trace_viewer/);
    await page.goBack();
    await page.goto(addressOf(server, "hosts", "overview_page", { step: "2" }));
    const table = page.getByRole("table", { name: "Parts of the step" });
    await page.locator(".step-parts").getByRole("heading", { name: "train 2" }).waitFor();
    for (const [label, , times] of await seriesOf("hosts")) {
      const name = label.replace("Device compute, ", "");
      const row = table.getByRole("row").filter({ has: page.getByText(name, { exact: true }) });
      const unit = /\((.*)\)/.exec(await textOf(table.locator("thead")))?.[1];
      expectTime(`${await textOf(row.locator("td").first())} ${unit}`, times[2]);
    }
  });

  test.each([
    ["hosts", 12, "train 11"],
    ["many", 3000, "2999"],
  ])("of %s has a table with all %d steps", async (run, count, last) => {
    const page = await show(run);
    await page.getByRole("button", { name: "Menu of “Step time”" }).click();
    await page.getByRole("menuitem", { name: "As table" }).click();
    const grid = page.getByRole("treegrid", { name: "Step time" });
    await grid.getByRole("row").nth(1).waitFor();
    await expect.poll(() => grid.getAttribute("aria-rowcount")).toBe(String(count + 2));
    await grid.focus();
    await page.keyboard.press("End");
    const [, steps] = await tables(run);
    expect(column(steps, "stepnum").at(-1)).toBe(last);
    await grid
      .locator(`[aria-rowindex="${count + 1}"]`)
      .getByText(last, { exact: true })
      .waitFor();
    await page.getByRole("button", { name: "Menu of “Step time”" }).click();
    await page.getByRole("menuitem", { name: "As chart" }).click();
    await canvas(page).waitFor();
  });

  test("of 3,000 steps shows the slow ones, zooms in and out", async () => {
    const page = await show("many");
    const [, steps] = await tables("many");
    const most = Math.max(...column(steps, "stepTimeMs").map(Number));
    expect(column(steps, "stepTimeMs").filter((time) => time === most).length).toBe(30);
    const red = await colorOf(page, "--c-input");
    await expect.poll(async () => (await pixels(canvas(page))).get(red) ?? 0).toBeGreaterThan(30);
    await page.getByText(/3,000 steps: each column is the slowest of several/).waitFor();
    await slider(page).focus();
    await page.keyboard.press("+");
    await page.waitForURL(/zoom=\d+\.\.\d+/);
    await page.getByRole("button", { name: "All 3,000 steps" }).click();
    await expect.poll(() => page.url()).not.toContain("zoom=");
  });
});

describe("what it leads to", () => {
  test("recommendations, the largest gain first, with evidence on other pages", async () => {
    const page = await show("hosts");
    const [, , , , , , , table] = await tables("hosts");
    const findings = rows(table);
    expect(findings.length).toBeGreaterThan(2);
    const gains = findings.map(({ gain_ms }) => Number(gain_ms ?? 0));
    expect(gains).toEqual(gains.toSorted((a, b) => b - a));
    const items = page.locator(".findings > li");
    await expect
      .poll(() => items.locator(".finding-title").allTextContents())
      .toEqual(findings.map(({ title }) => title));
    for (const [at, { title, evidence_tool, evidence_query }] of findings.entries()) {
      await eventually(async () =>
        expectTime(await textOf(items.nth(at).locator(".finding-value")), gains[at] * 1000),
      );
      if (evidence_tool === TOOL) continue;
      const item = page.locator(".findings > li", { hasText: String(title) });
      if ((await item.locator("details[open]").count()) === 0)
        await item.locator("summary").click();
      const evidence = item.getByRole("link", { name: /^Evidence/ });
      // Read off the link: the page that it leads to goes on from there.
      const leadsTo = new URLSearchParams((await evidence.getAttribute("href"))!.slice(1));
      for (const [key, value] of new URLSearchParams(String(evidence_query)))
        expect(leadsTo.get(key)).toBe(value);
      await evidence.click();
      await page.waitForURL(new RegExp(`tool=${evidence_tool}`));
      if (evidence_tool === "framework_op_stats") {
        const names = page.locator(".grid-body .grid-row .name");
        await names.first().waitFor();
        await expect.poll(() => names.count()).toBe(1);
        await expect.poll(() => names.first().getAttribute("title")).toContain("CollectiveReduce");
      }
      await page.goBack();
      await page.locator(".tile").first().waitFor();
    }
  });

  test.each(["hosts", "none"])("%s: top ops are rows of the op page", async (run) => {
    const page = await show(run);
    const [ops] = await tables(run);
    const names = column(ops, "operation").map(String);
    const links = page.locator(".top-ops .op-link");
    await expect.poll(() => links.count()).toBe(names.length);
    const shares = page.locator(".top-ops tbody tr");
    for (const [at, share] of column(ops, "selfTimePercent").entries())
      await eventually(async () =>
        expectPercent(await textOf(shares.nth(at).locator("td").nth(3)), Number(share) * 100),
      );
    await links.first().click();
    await page.waitForURL(/tool=framework_op_stats/);
    await page.getByRole("treegrid", { name: "Ops" }).getByRole("row").nth(1).waitFor();
    await expect.poll(() => textOf(page.locator(".table-count"))).toMatch(/^1 of/);
    const name = page.locator(".grid-body .grid-row .name").first();
    await expect.poll(() => name.getAttribute("title")).toBe(names[0]);
  });
});

test("another event can mark the steps: address and request tell it", async () => {
  const page = await show("hosts");
  await page.getByRole("button", { name: /^Step marker/ }).click();
  const options = page.getByRole("option");
  await expect
    .poll(() => options.filter({ hasText: "train" }).getAttribute("aria-selected"))
    .toBe("true");
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.url().includes("marker=half")),
    options.filter({ hasText: "half" }).click(),
  ]);
  expect(request.url()).toContain(`tag=${TOOL}`);
  await page.waitForURL(/marker=half/);
  const [, steps] = await tables("hosts", { marker: "half" });
  const count = column(steps, "stepnum").length;
  expect(count).toBeGreaterThan(12);
  await expect.poll(() => slider(page).getAttribute("aria-valuemax")).toBe(String(count - 1));
  await page.locator(".marker-picker").getByText("half").waitFor();
  // Pages that have the parameter share it; what they show goes back with it.
  await page.locator(".tabs").getByText("Input", { exact: true }).click();
  await page.waitForURL(/tool=input_pipeline_analyzer.*marker=half/);
  await page.goBack();
  await page.getByRole("button", { name: /^Step marker/ }).click();
  await page.getByRole("option", { name: /Automatic/ }).click();
  await expect.poll(() => slider(page).getAttribute("aria-valuemax")).toBe("11");
  await expect.poll(() => page.url()).not.toContain("marker=");
});

test("steps that nothing marks are said to be inferred", async () => {
  const page = await show("many");
  await expect.poll(() => textOf(page.locator(".marker-picker .tag"))).toBe("inferred");
  const marked = await show("hosts");
  await expect.poll(() => marked.locator(".marker-picker .tag").count()).toBe(0);
});

test("without steps it says why, and shows the rest", async () => {
  const page = await show("none");
  const [, steps] = await tables("none");
  await expect.poll(() => textOf(page.locator(".verdict"))).toContain(String(steps?.p?.step_note));
  await page.getByRole("heading", { name: "No steps in this trace" }).waitFor();
  await expect.poll(() => slider(page).count()).toBe(0);
  await page.getByRole("button", { name: "Copy the code for JAX" }).waitFor();
  await expect.poll(() => page.locator(".top-ops .op-link").count()).toBe(2);
  await page.getByRole("heading", { name: "Run environment" }).waitFor();
  await expect.poll(() => page.locator(".findings > li").count()).toBeGreaterThan(0);
});

test("one step has no deviation, and its marker's name is text", async () => {
  const page = await show("one");
  await expect.poll(() => textOf(tile(page, "Average step"))).not.toContain("σ");
  await expect.poll(() => textOf(page.locator(".marker-picker"))).toContain("<img src=x");
  await expect.poll(() => slider(page).getAttribute("aria-valuemax")).toBe("0");
  const { x, y } = await columnAt(page, 0, 1);
  await page.mouse.move(x, y);
  await page.locator(".step-card").getByText("<img src=x").waitFor();
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
});

test("one host and all hosts have numbers of their own", async () => {
  const page = await show("hosts");
  const waiting = async (hosts: string) => {
    const found = rows((await tables("hosts", hosts ? { hosts } : {}))[8]);
    return Number(found.find(({ id }) => id === "waiting_for_input")?.value);
  };
  const shown = () => textOf(tile(page, "Waiting for input").locator(".figure-value"));
  const [all, first, second] = [
    await waiting(""),
    await waiting("worker-0"),
    await waiting("worker-1"),
  ];
  expect(new Set([all, first, second]).size).toBe(3);
  await eventually(async () => expectPercent(await shown(), all));
  await page.getByRole("button", { name: /^Hosts/ }).click();
  await page.getByRole("option", { name: /^✓?worker-0/ }).click();
  await expect.poll(shown).toBe(`${first.toFixed(1)} %`);
  await page.getByRole("option", { name: /^✓?worker-1/ }).click();
  await expect.poll(shown).toBe(`${all.toFixed(1)} %`);
  await page.keyboard.press("Escape");
  await page.goto(addressOf(server, "hosts", TOOL, { hosts: "worker-1" }));
  await page.reload();
  await page.locator(".tile").first().waitFor();
  await eventually(async () => expectPercent(await shown(), second));
});

describe("outliers", () => {
  const choice = (page: Page, name: RegExp) => page.getByRole("button", { name });
  const average = async (more = {}) => {
    const figures = rows((await tables(SLOW, more))[8]);
    return Number(figures.find(({ id }) => id === "step_time_average")?.value);
  };

  test("the page is of typical steps, until all are chosen", async () => {
    const page = await show(SLOW);
    const value = (name: string) => textOf(tile(page, name).locator(".figure-value"));
    const [typical, all] = [await average(), await average({ steps: "all" })];
    expect(all).toBeGreaterThan(2 * typical);
    await eventually(async () => expectTime(await value("Typical step"), typical * 1000));
    await expect.poll(() => textOf(tile(page, "Typical step"))).toContain("14 of 18 steps");
    await page.locator(".step-parts").getByRole("heading", { name: "Typical step" }).waitFor();
    await expect
      .poll(() => choice(page, /^Typical steps \(14\)/).getAttribute("aria-pressed"))
      .toBe("true");
    await choice(page, /^All steps \(18\)/).click();
    await expect.poll(() => tile(page, "Average step").count()).toBe(1);
    await eventually(async () => expectTime(await value("Average step"), all * 1000));
    await expect.poll(() => page.url()).toContain("steps=all");
    await choice(page, /^Typical steps/).click();
    await expect.poll(() => tile(page, "Typical step").count()).toBe(1);
    await expect.poll(() => page.url()).not.toContain("steps=all");
  });

  test("what recurs is the headline, with the average step that has its cost", async () => {
    const page = await show(SLOW);
    const [finding] = rows((await tables(SLOW))[7]);
    expect(finding.id).toBe("periodic_steps");
    await page.locator(".verdict", { hasText: "Every 5th step takes" }).waitFor();
    const verdict = await textOf(page.locator(".verdict"));
    const gain = Number(finding.gain_ms);
    const [, saved] = verdict.split("At most ");
    expectTime(saved, gain * 1000);
    expectTime(saved.split(" of ")[1], (gain / Number(finding.gain_ratio)) * 1000);
  });

  test("they are marked, and say why, in the chart, in words and in its table", async () => {
    const page = await show(SLOW);
    await canvas(page).waitFor();
    await expect.poll(() => textOf(page.locator(".step-axis-title"))).toContain("4 outliers");
    await slider(page).focus();
    await page.keyboard.press("ArrowRight");
    await expect
      .poll(() => slider(page).getAttribute("aria-valuetext"))
      .toContain("longer than a typical step, most of it compilation");
    await page
      .locator(".step-card")
      .getByText(/Outlier: .*compilation/)
      .waitFor();
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => slider(page).getAttribute("aria-valuetext")).not.toContain("outlier");
    await page.getByRole("button", { name: /^Menu of/ }).click();
    await page.getByRole("menuitem", { name: "As table" }).click();
    await page.getByText("Why it takes longer").waitFor();
  });

  test("the choice goes along to the other pages of steps", async () => {
    const page = await show(SLOW, { steps: "all" });
    for (const name of ["Input", "Pod"]) {
      await page.getByRole("link", { name, exact: true }).click();
      const all = choice(page, /^All steps \(18\)/);
      await expect.poll(() => all.getAttribute("aria-pressed")).toBe("true");
    }
    await expect.poll(() => page.url()).toContain("steps=all");
  });
});

describe.each(LOOKS)("at $width × $height, dark: $dark", (look) => {
  test("looks right", async () => {
    for (const run of ["hosts", SLOW, "none"]) {
      const page = await show(run, {}, look);
      if (run !== "none") await canvas(page).waitFor();
      await expectGoodLooks(page);
      await release(page);
    }
  });
});
