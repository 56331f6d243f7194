/** The pod: every step of every worker, who is late, and how much of it a browser bears. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  clickIn,
  colorOf,
  eventually,
  pixels,
  release,
  settled,
  textOf,
  workOf,
  workOfReload,
} from "../harness/browser";
import { brokenTexts, expectGoodLooks, FIRST_LOOK } from "../harness/looks";
import { expectPercent, expectTime } from "../harness/readings";
import { addressOf, ask, RECORDED } from "../harness/servers";
import { server } from "../harness/shared_server";
import { type OpenOptions, watchedBrowser } from "../harness/watched_browser";

const TOOL = "pod_viewer";
/** Events of a step from the top of a column, and their colors. */
const EVENTS: readonly (readonly [id: string, label: string, color: string])[] = [
  ["9", "All others", "idle"],
  ["8", "Compilation", "compile"],
  ["7", "Output", "output"],
  ["6", "Input", "input"],
  ["5", "Kernel launch", "launch"],
  ["4", "Host compute", "host"],
  ["3", "Device collectives", "collective"],
  ["11", "Host callbacks", "callback"],
  ["10", "Host transfer", "transfer"],
  ["2", "Device to device", "copy"],
  ["1", "Device compute", "compute16"],
];

interface Overview {
  readonly steps: { readonly label: string[] };
  readonly workers: { readonly name: string[]; readonly host: number[] };
  readonly hosts: string[];
  readonly total: number[];
  readonly stragglers: { readonly worker: number; readonly late_us: number }[];
}
interface Step {
  readonly worker: number[];
  readonly total_us: number[];
  readonly event_us: Readonly<Record<string, number[]>>;
}

const open = watchedBrowser();

async function show(run: string, view = {}, options: OpenOptions = {}) {
  const { page } = await open(addressOf(server, run, TOOL, view), options);
  await page.locator(".pod-columns canvas").waitFor();
  return page;
}

const overview = (run: string) => ask<Overview>(server, run, TOOL);
const stepOf = (run: string, step: number) => ask<Step>(server, run, TOOL, { step: String(step) });
const slider = (page: Page) => page.getByRole("slider", { name: "Step", exact: true });
const heat = (page: Page) => page.locator(".pod-heat-frame");
const columns = (page: Page) => page.locator(".pod-columns-scroller");
const shownStep = (page: Page) => slider(page).inputValue();
const worker = (page: Page) => page.locator(".pod-worker");

/** The worker card tells the step exactly as the server does. */
function expectWorker(page: Page, one: number, step: Step): Promise<unknown> {
  return eventually(() => checkWorker(page, one, step));
}

async function checkWorker(page: Page, one: number, step: Step): Promise<void> {
  const row = step.worker.indexOf(one);
  const table = worker(page).getByRole("table");
  await worker(page).and(page.locator('[aria-busy="false"]')).waitFor();
  const unit = /\((.*)\)/.exec(await textOf(table.locator("thead")))?.[1];
  expectTime(await textOf(worker(page).locator(".pod-worker-time b")), step.total_us[row]);
  const lines = table.locator("tbody tr");
  const labels = await lines.locator("th").allTextContents();
  for (const [id, label] of EVENTS) {
    const us = step.event_us[id]?.[row] ?? 0;
    const index = labels.indexOf(label);
    if (index < 0) expect(us).toBe(0);
    else {
      const cells = await lines.nth(index).locator("td").allTextContents();
      expectTime(`${cells[0]} ${unit}`, us);
      expectPercent(cells[1], (100 * us) / step.total_us[row]);
    }
  }
}

/** The cells of the heat map: its frame less the labels, from the chosen step's mark. */
async function heatCell(page: Page, at: number, step: number): Promise<readonly [number, number]> {
  await settled(page);
  const mark = (await heat(page).locator(".pod-mark").first().boundingBox())!;
  const width = mark.width;
  const first = mark.x - Number(await shownStep(page)) * width;
  const { workers } = await overview(new URLSearchParams(new URL(page.url()).hash).get("#run")!);
  return [first + (step + 0.5) * width, mark.y + ((at + 0.5) / workers.name.length) * mark.height];
}

/** Of the recorded runs those of several workers. */
const SEVERAL = RECORDED.filter((run) => !run.endsWith("cpu_training"));

test.each([...SEVERAL, "hosts", "one", "many"])(
  "%s: the chosen step is the server's",
  async (run) => {
    const page = await show(run, { step: "0" });
    const pod = await overview(run);
    const step = await stepOf(run, 0);
    await expect
      .poll(() => slider(page).getAttribute("max"))
      .toBe(String(pod.steps.label.length - 1));
    await expect.poll(() => textOf(page.locator(".pod-step-place"))).toMatch(/^1 of /);
    const own = step.total_us.map((total, row) => total - (step.event_us["3"]?.[row] ?? 0));
    await expectWorker(page, step.worker[own.indexOf(Math.max(...own))], step);
    await eventually(async () => {
      const drawn = await pixels(page.locator(".pod-columns canvas"));
      for (const [id, , color] of EVENTS) {
        const [most] = step.event_us[id].toSorted((a, b) => b - a);
        if (most > Math.max(...step.total_us) * 0.05)
          expect(drawn.get(await colorOf(page, `--c-${color}`))).toBeGreaterThan(50);
      }
    });
    await expect
      .poll(async () => (await pixels(heat(page).locator("canvas"))).size)
      .toBeGreaterThan(2);
    await expect.poll(() => brokenTexts(page)).toEqual([]);
  },
);

test.each(RECORDED.filter((run) => !SEVERAL.includes(run)))(
  "%s: its only worker is not compared: the page leads to its step in the overview",
  async (run) => {
    const { page } = await open(addressOf(server, run, TOOL, { step: "2" }));
    await page.locator(".verdict", { hasText: "is the only worker" }).waitFor();
    await expect.poll(() => page.locator("main canvas").count()).toBe(0);
    await page.getByRole("link", { name: "See its steps in the overview" }).click();
    await page.waitForURL(/tool=overview_page.*step=2/);
  },
);

test("the slider moves the step, by mouse, by keyboard and by its buttons", async () => {
  const page = await show("hosts", { step: "0" });
  await clickIn(slider(page), 0.5);
  await expect.poll(() => shownStep(page)).toMatch(/^[56]$/);
  const clicked = Number(await shownStep(page));
  await page.waitForURL(new RegExp(`step=${clicked}`));
  await page.getByRole("heading", { name: `train ${clicked} on every worker` }).waitFor();
  await page.keyboard.press("End");
  await expect.poll(() => shownStep(page)).toBe("11");
  await page.getByText("not fully recorded", { exact: true }).waitFor();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => shownStep(page)).toBe("1");
  await slider(page).evaluate((element) => element.blur());
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => shownStep(page)).toBe("2");
  await page.getByRole("button", { name: "Next step" }).click();
  await expect.poll(() => shownStep(page)).toBe("3");
  await expect
    .poll(() => slider(page).getAttribute("aria-valuetext"))
    .toMatch(/^train 3, slowest worker/);
  await page.getByRole("button", { name: /^Step: train 3/ }).click();
  await page.getByRole("option", { name: /^train 7/ }).click();
  await expect.poll(() => shownStep(page)).toBe("7");
});

test("the steps are played, until they are stopped", async () => {
  // So many that it does not come to the end meanwhile, however busy the machine is.
  const page = await show("many", { step: "7" });
  await page.getByRole("button", { name: "Play the steps" }).click();
  await expect.poll(async () => Number(await shownStep(page))).toBeGreaterThan(8);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Play the steps" }).waitFor();
});

test("a column stands for every worker, and tells its parts exactly", async () => {
  const page = await show("hosts", { step: "2" });
  const step = await stepOf("hosts", 2);
  const canvas = page.locator(".pod-columns canvas");
  const left = (await columns(page).boundingBox())!.x - (await canvas.boundingBox())!.x;
  const colors = await Promise.all(EVENTS.map(([, , color]) => colorOf(page, `--c-${color}`)));
  await columns(page).focus();
  for (const at of [0, 1, 2, 3]) {
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => columns(page).getAttribute("aria-valuenow")).toBe(String(at));
    await expectWorker(page, at, step);
  }
  await settled(page);
  const box = (await columns(page).boundingBox())!;
  let pitch = 0;
  for (const at of [0, 3]) {
    for (let x = 4; x < box.width; x += 8) {
      await page.mouse.move(box.x + x, box.y + 60);
      await settled(page);
      if ((await columns(page).getAttribute("aria-valuenow")) !== String(at)) continue;
      if (at === 3) pitch = x / 3;
      break;
    }
  }
  // Out of the way: what is pointed at has another ground.
  await page.mouse.move(5, 5);
  const checkColumn = async (at: number) => {
    const seen = await pixels(canvas, left + at * pitch + pitch / 2);
    const times = EVENTS.map(([id]) => step.event_us[id][at]);
    const heights = colors.map((color, event) => (times[event] > 0 ? (seen.get(color) ?? 0) : 0));
    const height = heights.reduce((sum, pixel) => sum + pixel, 0);
    expect(height).toBeGreaterThan(150);
    heights.forEach((pixel, event) => {
      expect(Math.abs(pixel - (times[event] / step.total_us[at]) * height)).toBeLessThan(6);
    });
  };
  for (const at of [0, 3]) await eventually(() => checkColumn(at));
});

test("the heat map is drawn, tells a cell, and chooses step and worker", async () => {
  const page = await show("hosts", { step: "0" });
  const canvas = heat(page).locator("canvas");
  await expect
    .poll(async () => [...(await pixels(canvas)).values()].filter((count) => count > 500).length)
    .toBeGreaterThan(2);
  const [x, y] = await heatCell(page, 3, 7);
  await page.mouse.move(x, y);
  const card = heat(page).locator(".step-card");
  await card.getByText("train 7", { exact: true }).waitFor();
  await expect.poll(() => textOf(card)).toContain("GPU:1 · worker-1");
  const step = await stepOf("hosts", 7);
  const cell = card.locator("tr", { hasText: "Time without collectives" }).locator("td").nth(1);
  await eventually(async () =>
    expectTime(await textOf(cell), step.total_us[3] - step.event_us["3"][3]),
  );
  await page.mouse.click(x, y);
  await page.waitForURL(/step=7/);
  await expect.poll(() => page.url()).toContain("worker=3");
  await page.mouse.move(5, 5);
  await worker(page).getByRole("heading", { name: "Worker GPU:1" }).waitFor();
  await expectWorker(page, 3, step);
  await heat(page).focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await page.waitForURL(/step=6/);
  await expect.poll(() => page.url()).toContain("worker=2");
});

test("the heat map's colors can stand for another measure", async () => {
  const page = await show("hosts");
  const canvas = heat(page).locator("canvas");
  await settled(page);
  const before = await canvas.evaluate((element) => (element as HTMLCanvasElement).toDataURL());
  await page.getByRole("button", { name: /^Color: Time without/ }).click();
  const menu = page.getByRole("menu");
  await expect
    .poll(() => menu.getByRole("menuitemradio").allTextContents())
    .toEqual(expect.arrayContaining([expect.stringContaining("Step time")]));
  await menu.getByRole("menuitemradio", { name: /Share of input/ }).click();
  await page.waitForURL(/by=6/);
  await page.getByRole("button", { name: "Color: Share of input" }).waitFor();
  await expect
    .poll(() => canvas.evaluate((element) => (element as HTMLCanvasElement).toDataURL()))
    .not.toBe(before);
  const legend = page.getByRole("img", { name: /^Colors from/ });
  await expect.poll(() => legend.getAttribute("aria-label")).toMatch(/ %$/);
});

test("stragglers, the latest first, lead to the worker", async () => {
  const page = await show("hosts");
  const { stragglers, workers } = await overview("hosts");
  const late = stragglers.map(({ late_us }) => late_us);
  expect(late.length).toBe(2);
  expect(late).toEqual(late.toSorted((a, b) => b - a));
  const items = page.locator(".pod-stragglers li button");
  await expect.poll(() => items.count()).toBe(late.length);
  for (const [at, { worker: one, late_us }] of stragglers.entries()) {
    await expect.poll(() => textOf(items.nth(at))).toContain(workers.name[one]);
    await eventually(async () =>
      expectTime(await textOf(items.nth(at).locator(".pod-late")), late_us),
    );
  }
  await items.first().click();
  await page.waitForURL(new RegExp(`worker=${stragglers[0].worker}`));
  await expect.poll(() => items.first().getAttribute("aria-pressed")).toBe("true");
  await worker(page).getByRole("heading", { name: "Worker GPU:1" }).waitFor();
  await items.first().click();
  await expect.poll(() => page.url()).not.toContain("worker=");
});

test("Back and Forward restore step and worker", async () => {
  const page = await show("hosts", { step: "3", worker: "1" });
  await slider(page).focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/step=4/);
  await page.locator(".tabs").getByText("Overview", { exact: true }).click();
  await page.locator(".tile").first().waitFor();
  await page.goBack();
  await page.locator(".pod-columns canvas").waitFor();
  await expect.poll(() => shownStep(page)).toBe("4");
  await worker(page).getByRole("heading", { name: "Worker GPU:1" }).waitFor();
  await page.goForward();
  await page.locator(".tile").first().waitFor();
});

test("columns and heat map have tables of the same", async () => {
  const page = await show("hosts", { step: "5" });
  const as = async (title: string, item: string) => {
    await page.getByRole("button", { name: `Menu of “${title}”` }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  await as("train 5 on every worker", "As table");
  const byWorker = page.getByRole("treegrid", { name: "train 5 by worker" });
  await byWorker.getByRole("row").nth(1).waitFor();
  await expect.poll(() => byWorker.getAttribute("aria-rowcount")).toBe("6");
  await as("Workers and steps", "As table");
  await expect.poll(() => page.getByRole("treegrid").count()).toBe(2);
  await as("Workers and steps", "As picture");
  await heat(page).locator("canvas").waitFor();
});

test("without steps there is nothing to show, and it says how to get them", async () => {
  // The answer that there are none.
  const { page } = await open(addressOf(server, "none", TOOL), { forgives: /status of 4\d\d/ });
  const main = page.getByRole("main");
  await main.getByRole("heading", { name: "Pod viewer: nothing to show" }).waitFor();
  await main
    .getByText(/StepTraceAnnotation/)
    .first()
    .waitFor();
  await expect.poll(() => brokenTexts(page)).toEqual([]);
});

describe("1,024 cores and 100 steps", () => {
  test("are a small answer, and soon drawn", async () => {
    // Computed once: here it is about the way to the browser, and about the browser.
    await overview("pod");
    const { page, received } = await open(addressOf(server, "pod", TOOL), { isFresh: true });
    await isDrawn(page);
    const bytes = () => received(/\/data\?.*tag=pod_viewer/);
    await expect.poll(bytes).toBeGreaterThan(10_000);
    expect(await bytes()).toBeLessThan(1_000_000);
    expect(await workOfReload(page, isDrawn)).toBeLessThan(2000);
    await slider(page).focus();
    const going = await workOf(page, async () => {
      await page.keyboard.press("ArrowLeft");
      await page.waitForURL(/step=49/);
    });
    expect(going).toBeLessThan(1000);
    await expect.poll(() => brokenTexts(page)).toEqual([]);
  });

  test("have one straggler, which leads to its column", async () => {
    const page = await show("pod");
    const { stragglers, workers, hosts } = await overview("pod");
    const [{ worker: late }] = stragglers;
    expect(stragglers.length).toBe(1);
    expect([workers.name[late], hosts[workers.host[late]]]).toEqual(["TPU:5", "pod-w-3"]);
    await page.locator(".pod-stragglers li button").click();
    await page.waitForURL(new RegExp(`worker=${late}`));
    await expectWorker(page, late, await stepOf("pod", Number(await shownStep(page))));
    const scroller = columns(page);
    await expect
      .poll(() => scroller.evaluate((element) => element.scrollLeft))
      .toBeGreaterThan(100);
    await expect.poll(() => scroller.getAttribute("aria-valuetext")).toMatch(/^TPU:5 · pod-w-3/);
    await page.getByRole("button", { name: "Slowest per host" }).click();
    await expect.poll(() => scroller.getAttribute("aria-valuemax")).toBe("15");
    await page.getByRole("button", { name: "Slowest first" }).click();
    await expect.poll(() => scroller.getAttribute("aria-valuenow")).toBe("0");
  });
});

/** The heat map and the columns have been painted. */
async function isDrawn(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    [".pod-heat canvas", ".pod-columns canvas"].every(
      (one) => (document.querySelector<HTMLCanvasElement>(one)?.width ?? 0) > 320,
    ),
  );
}

test("looks right", async () => {
  for (const run of ["hosts", "pod"]) {
    const page = await show(run, { step: "5", worker: "3" }, FIRST_LOOK);
    await expectGoodLooks(page);
    await release(page);
  }
});
