/** The steps of the overview: their chart, their table, and those that are outliers. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { clickIn, colorOf, eventually, pixels, textOf } from "../harness/browser";
import { expectPercent, expectTime } from "../harness/readings";
import { addressOf, column, rows } from "../harness/servers";
import { server } from "../harness/shared_server";
import { canvas, columnAt, overviewPages, SLOW, slider, tables, tile } from "./overview_page";

/** Series of the step chart from the top: their colors, and the columns they are made of. */
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

const show = overviewPages();

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

describe("the step chart", () => {
  test("has a column per step, of the right colors and heights, which tells its parts", async () => {
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
      times.forEach((time, index) => {
        expect(Math.abs(heights[index] - (time / whole) * height)).toBeLessThan(5);
      });
    };
    for (const step of [0, 7]) await eventually(() => checkColumn(step));

    // Under the pointer it tells the parts of the step.
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
      .poll(() => parts.getByRole("link", { name: "Show in trace" }).getAttribute("href"))
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
    await page.getByText(/3,000 steps: each column shows the slowest of several/).waitFor();
    await slider(page).focus();
    await page.keyboard.press("+");
    await page.waitForURL(/zoom=\d+\.\.\d+/);
    await page.getByRole("button", { name: "All 3,000 steps" }).click();
    await expect.poll(() => page.url()).not.toContain("zoom=");
  });
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

  test("what recurs is the headline, marked, and explained in the chart and its table", async () => {
    const page = await show(SLOW);
    const [finding] = rows((await tables(SLOW))[7]);
    expect(finding.id).toBe("periodic_steps");
    await page.locator(".verdict", { hasText: "Every 5th step takes" }).waitFor();
    const verdict = await textOf(page.locator(".verdict"));
    const gain = Number(finding.gain_ms);
    const [, saved] = verdict.split("At most ");
    expectTime(saved, gain * 1000);
    expectTime(saved.split(" of ")[1], (gain / Number(finding.gain_ratio)) * 1000);

    // They are marked, and say why, in the chart, in words and in its table.
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
