/** The canvas of the trace viewer under the pointer: drags, wheels, fingers, and tiles that are late. */
import type { Route } from "playwright-core";
import { expect, test } from "vitest";
import { colorOf, eventually, LARGE } from "../harness/browser";
import { expectNumber } from "../harness/readings";
import {
  ALL,
  AXIS,
  canvasOfRuns,
  colorOfName,
  MAIN,
  mostOf,
  ROW,
  type Span,
  shareOf,
  TIMELINE,
  type TracePage,
} from "./trace_canvas_page";

const TILES = /timeline_tiles/;

const show = canvasOfRuns();

/** Rows of the table of sums: the cells of each, by its name. */
async function sums(trace: TracePage): Promise<Map<string, string[]>> {
  const rows = trace.page.getByRole("grid", { name: "Events by name" }).getByRole("row");
  const cells = await rows.evaluateAll((all) =>
    all.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? "")),
  );
  return new Map(cells.map(([name, ...rest]) => [name, rest]));
}

/** Every sum of a name is as worked out by hand: µs, but for the count. */
async function expectSums(trace: TracePage, name: string, ...values: number[]): Promise<void> {
  await eventually(async () => {
    const table = await sums(trace);
    expect([...table.keys()]).toContain(name);
    const [head] = table.values();
    expect(head.slice(2, 7).join(), "times in µs").toMatch(/^Total \(µs\)/);
    const [, ...cells] = table.get(name) ?? [];
    values.forEach((value, index) => {
      expectNumber(cells[index]?.replace(" %", ""), value, `${name}: ${cells.join(" ")}`);
    });
  });
}

/** The ruler came to the exact edges of events. */
const expectRange = (trace: TracePage, from: number, to: number) =>
  expect.poll(() => trace.range).toEqual([from, to]);

test("a box that is dragged adds up what lies in it", async () => {
  const trace = await show("drawn", ALL);
  const { y } = await trace.laneBox("e0");
  // From a gap to a gap: gemm and relu of the first three steps whole, on one track.
  await trace.drag([trace.xOf(8), y + 4], [trace.xOf(148), y + ROW - 4]);
  await expect.poll(() => trace.parameters.get("range_tracks")).toBe("e0@host0");
  const [from, to] = trace.range ?? [0, 0];
  expect(Math.abs(from - 8)).toBeLessThan(trace.perPixel);
  expect(Math.abs(to - 148)).toBeLessThan(trace.perPixel);
  const { page } = trace;
  await page.getByRole("tab", { name: "Selection", selected: true }).waitFor();
  const said = page.locator(".trace-sums");
  // 3 × (24 + 6) of 140 µs.
  await said.getByText(/^6 events in 140 µs\b/).waitFor();
  await said.getByText("busy 90.0 µs (64.3 %), idle 50.0 µs").waitFor();
  await expectSums(trace, "gemm_kernel", 3, 72, 72, 24, 24, 24, 80);
  await expectSums(trace, "relu_kernel", 3, 18, 18, 6, 6, 6, 20);
  // The box stays tinted in its lane alone.
  const gap = await trace.inside("e0", 0, [94, 112]);
  const background = await colorOf(page, "--background");
  const [within, outside] = await trace.colors(gap, await trace.inside("e1", 0, [94, 102]));
  expect(mostOf(within)).not.toBe(background);
  expect(mostOf(outside)).toBe(background);
});

test("a box over nested rows counts each time once", async () => {
  const range = { range: "0.01..0.07", range_tracks: "e3@host0", tab: "selection" };
  const trace = await show("drawn", ALL, range);
  const said = trace.page.locator(".trace-sums");
  // [10, 70) µs: train 0-48 and 50-98, MatMul 2-22 and 52-72, step.py 26-44, launch 55-59,
  // allocations at 10, 30 and 60.
  await said.getByText(/^9 events in 60.0 µs\b/).waitFor();
  await said.getByText("busy 58.0 µs (96.7 %), idle 2.00 µs").waitFor();
  // Within the range 12 + 18 µs of MatMul, 18 of step.py; self time without what is inside.
  await expectSums(trace, "train", 2, 58, 10);
  await expectSums(trace, "dense/MatMul:MatMul", 2, 30, 24);
  await expectSums(trace, "$train.py:7 step", 1, 18, 17);
  await expectSums(trace, "cuLaunchKernel", 1, 4, 4);
});

test("a box over steps and what they stand for adds up the work, once", async () => {
  const both = { range: "0..0.2", range_tracks: "d0@host0,e0@host0", tab: "selection" };
  const trace = await show("drawn", ALL, both);
  const said = trace.page.locator(".trace-sums");
  await said.getByText("8 events in 200 µs on 1 track, 1 derived track excluded").waitFor();
  await said.getByText("busy 120 µs (60.0 %), idle 80.0 µs").waitFor();
  await expectSums(trace, "gemm_kernel", 4, 96, 96, 24, 24, 24, 80);
  // Alone they are what is meant.
  const steps = await show("drawn", ALL, { ...both, range_tracks: "d0@host0" });
  await steps.page.locator(".trace-sums").getByText("4 events in 200 µs on 1 track").waitFor();
});

test("pan drags the picture along, both ways", async () => {
  const trace = await show("drawn", [50, 150], { mode: "pan" }, { height: 480 });
  const perPixel = trace.perPixel;
  const { x, y } = trace.canvas;
  const { y: before } = await trace.laneBox("e0");
  await trace.drag([x + 500, y + 200], [x + 600, y + 170]);
  await expect.poll(() => trace.view[0]).toBeCloseTo(50 - 100 * perPixel, 3);
  expect(trace.view[1] - trace.view[0]).toBeCloseTo(100, 3);
  await expect.poll(async () => (await trace.laneBox("e0")).y).toBe(before - 30);
  // Escape gives it up.
  const rest = trace.view;
  await trace.drag([x + 500, y + 200], [x + 300, y + 200], true);
  await expect.poll(() => trace.view).not.toEqual(rest);
  await trace.page.keyboard.press("Escape");
  await expect.poll(() => trace.view).toEqual(rest);
  await trace.page.mouse.up();
});

test("zoom drags nearer and farther, and shows the part that is dragged across", async () => {
  const trace = await show("drawn", [50, 150], { mode: "zoom" });
  const { x, y } = trace.canvas;
  const at = trace.usAt(x + 400);
  await trace.drag([x + 400, y + 300], [x + 400, y + 200]);
  // A hundredth of a power of e for every pixel.
  await expect.poll(() => trace.view[1] - trace.view[0]).toBeCloseTo(100 * Math.exp(-1), 2);
  expect(Math.abs(trace.xOf(at) - x - 400)).toBeLessThan(1);
  const [from, to] = [trace.usAt(x + 100), trace.usAt(x + 900)];
  await trace.drag([x + 100, y + 200], [x + 900, y + 210]);
  await expect.poll(() => trace.view[0]).toBeCloseTo(from, 2);
  await expect.poll(() => trace.view[1]).toBeCloseTo(to, 2);
  // On the time axis it is the same with any tool.
  await trace.page.keyboard.press("1");
  const span = [trace.usAt(x + 200), trace.usAt(x + 700)];
  await trace.drag([x + 200, y + 10], [x + 700, y + 12]);
  await expect.poll(() => trace.view[0]).toBeCloseTo(span[0], 2);
  await expect.poll(() => trace.view[1]).toBeCloseTo(span[1], 2);
});

test("the ruler snaps to the edges of events and shows its length", async () => {
  const trace = await show("drawn", ALL, { mode: "timing" });
  const { page } = trace;
  const y = await trace.yOf("e0");
  await trace.drag([trace.xOf(12) + 5, y], [trace.xOf(36) - 6, y], true);
  const accent = await colorOf(page, "--accent");
  // The length stands on a patch in the axis, above its middle.
  const pill = { x: trace.xOf(24) - 20, y: trace.canvas.y + 4, width: 40, height: 12 };
  await expect
    .poll(async () => shareOf((await trace.colorsNow(pill))[0], accent))
    .toBeGreaterThan(0.4);
  await page.mouse.up();
  await expectRange(trace, 12, 36);
  await page.locator(".trace-sums", { hasText: "events in 24.0 µs" }).waitFor();
  // An end can be moved; to the edge of another event.
  await trace.drag([trace.xOf(36), y], [trace.xOf(94) + 4, y]);
  await expectRange(trace, 12, 94);
  await page.locator(".trace-sums", { hasText: "events in 82.0 µs" }).waitFor();
  // Moved slowly it follows all the same: it does not hold on to where it was.
  const x = trace.xOf(94);
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let right = 5; right <= 50; right += 3) await page.mouse.move(x + right, y);
  await expect
    .poll(() => trace.range && Math.abs(trace.xOf(trace.range[1]) - x - 50))
    .toBeLessThan(1);
  await page.mouse.up();
  // Where no edge is near it is where the pointer is.
  await page.keyboard.press("Escape");
  await trace.drag([trace.xOf(24), y], [trace.xOf(53), y]);
  await expect.poll(() => trace.range?.map(Math.round)).toEqual([24, 53]);
});

test("the wheel scrolls, with Shift it moves, with Ctrl it zooms at the pointer", async () => {
  const trace = await show("drawn", [50, 150], {}, { ...LARGE, height: 480 });
  const { x, y } = trace.canvas;
  const { y: before } = await trace.laneBox("e0");
  await trace.wheel(x + 400, y + 100, 50);
  await expect.poll(async () => (await trace.laneBox("e0")).y).toBe(before - 50);
  const bar = trace.page.getByRole("scrollbar", { name: "Scroll the tracks" });
  await expect.poll(() => bar.getAttribute("aria-valuenow")).toBe("50");
  expect(trace.view).toEqual([50, 150]);
  const perPixel = trace.perPixel;
  await trace.wheel(x + 400, y + 100, 120, "Shift");
  await expect.poll(() => trace.view[0]).toBeCloseTo(50 + 120 * perPixel, 3);
  expect(trace.view[1] - trace.view[0]).toBeCloseTo(100, 3);
  expect((await trace.laneBox("e0")).y).toBe(before - 50);
  for (const [place, down] of [
    [400, -60],
    [1100, -60],
    [40, 45],
    [700, -500],
  ] as const) {
    const at = trace.usAt(x + place);
    const width = trace.view[1] - trace.view[0];
    await trace.wheel(x + place, y + 100, down, "Control");
    // One turn counts no more than 60 pixels.
    const factor = Math.exp(Math.max(down, -60) * 0.0075);
    await expect.poll(() => trace.view[1] - trace.view[0]).toBeCloseTo(width * factor, 3);
    expect(Math.abs(trace.xOf(at) - x - place)).toBeLessThan(1);
  }
  // The page itself was not zoomed.
  await expect.poll(() => trace.page.evaluate(() => visualViewport?.scale)).toBe(1);
});

test("two fingers zoom where they are, one finger moves", async () => {
  const trace = await show("drawn", [50, 150], {}, { isFresh: true });
  const { x, y } = trace.canvas;
  const devtools = await trace.page.context().newCDPSession(trace.page);
  await devtools.send("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 2 });
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", ...places: number[]) =>
    devtools.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: places.map((left, id) => ({ id, x: x + left, y: y + 200 })),
    });
  const at = trace.usAt(x + 500);
  await touch("touchStart", 450);
  await touch("touchStart", 450, 550);
  for (const out of [20, 60, 100, 150]) await touch("touchMove", 450 - out, 550 + out);
  await touch("touchEnd");
  // From 100 pixels apart to 400.
  await expect.poll(() => trace.view[1] - trace.view[0]).toBeCloseTo(25, 1);
  expect(Math.abs(trace.xOf(at) - x - 500)).toBeLessThan(2);
  const rest = trace.view;
  const perPixel = trace.perPixel;
  await touch("touchStart", 600);
  for (const left of [560, 500]) await touch("touchMove", left);
  await touch("touchEnd");
  await expect.poll(() => trace.view[0]).toBeCloseTo(rest[0] + 100 * perPixel, 3);
  expect(trace.view[1] - trace.view[0]).toBeCloseTo(rest[1] - rest[0], 4);
});

/** Holds back the tiles that are asked for from now on; `release` lets all of them come. */
async function holdTiles(trace: TracePage) {
  const held: Route[] = [];
  let isHolding = true;
  await trace.page.route(TILES, (route) => {
    if (!isHolding) return route.fallback();
    held.push(route);
    return Promise.resolve();
  });
  const release = async () => {
    isHolding = false;
    await Promise.all(held.map((route) => route.fallback().catch(() => {})));
  };
  return { held, release };
}

test("while tiles are late the former picture stays, in every frame", async () => {
  const trace = await show("dense", [0, 2000], { ...MAIN, renderer: "canvas" }, LARGE);
  const { page } = trace;
  const { x, y } = trace.canvas;
  const lane = await trace.laneBox("e0");
  const { held, release } = await holdTiles(trace);
  // Every frame from now on: how much of the row is not as empty as its background.
  await page.evaluate(watchRow, {
    selector: `${TIMELINE} .timeline-base`,
    y: lane.y - y - AXIS + 8,
  });
  const row = trace.usAt(x + 300);
  for (let turn = 0; turn < 12; turn++) {
    await trace.wheel(x + 300, y + 100, -60, "Control");
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  await expect.poll(() => trace.view[1] - trace.view[0]).toBeLessThan(20);
  await expect.poll(() => held.length).toBeGreaterThan(0);
  await page.locator(".trace-status", { hasText: "Loading" }).waitFor();
  // What is merged is hatched where it is wide: the color is there, and finer tiles are to come.
  const { y: top } = lane;
  const inside = { x: x + 250, y: top + 3, width: 100, height: ROW - 5 };
  const [late] = await trace.colorsNow(inside);
  expect(shareOf(late, colorOfName("tiny"))).toBeGreaterThan(0.5);
  expect(shareOf(late, await colorOf(page, "--background"))).toBeLessThan(0.1);
  const least = () => page.evaluate(() => (window as unknown as { least: number }).least);
  expect(await least()).toBeGreaterThan(0.95);
  await release();
  await page.locator(".trace-status", { hasText: "Loading" }).waitFor({ state: "detached" });
  expect(await least()).toBeGreaterThan(0.7);
  // Now single events, with the gaps between them.
  const event = Math.floor(row * 10) / 10;
  const spans: Span[] = [
    [event, event + 0.08],
    [event + 0.08, event + 0.1],
  ];
  const [x0, x1, x2] = [spans[0][0], spans[0][1], spans[1][1]].map((us) =>
    Math.round(trace.xOf(us)),
  );
  const boxes = [
    { ...inside, x: x0 + 1, width: x1 - x0 - 2 },
    { ...inside, x: x1, width: Math.max(x2 - x1, 1) },
  ];
  const [one, gap] = await trace.colors(...boxes);
  expect(mostOf(one)).toBe(colorOfName("tiny"));
  expect(mostOf(gap)).toBe(await colorOf(page, "--background"));
});

test("requests for what the view has left are given up", async () => {
  const trace = await show("dense", [0, 4000], MAIN);
  const { page } = trace;
  const given: string[] = [];
  page.on("requestfailed", (request) => {
    if (TILES.test(request.url())) given.push(request.failure()?.errorText ?? "");
  });
  const { held, release } = await holdTiles(trace);
  await page.mouse.move(trace.canvas.x + 300, trace.canvas.y + 100);
  await page.keyboard.down("w");
  await expect.poll(() => trace.across()).toBeLessThan(5);
  await page.keyboard.up("w");
  await expect.poll(() => held.length).toBeGreaterThan(0);
  await page.keyboard.press("0");
  await expect.poll(() => given.length).toBeGreaterThan(0);
  expect(new Set(given)).toEqual(new Set(["net::ERR_ABORTED"]));
  await release();
  // And the picture is whole without them.
  const status = page.locator(".trace-status span", { hasText: "drawn" });
  await expect.poll(() => status.getAttribute("title")).toMatch(/for the 20,001 events in view$/);
});

/** Runs in the page: `window.least` becomes the smallest painted share of a row in any frame. */
function watchRow({ selector, y }: { selector: string; y: number }): void {
  const canvas = document.querySelector(selector) as HTMLCanvasElement;
  const pen = canvas.getContext("2d")!;
  const watched = window as unknown as { least: number };
  watched.least = 1;
  const look = () => {
    const { data } = pen.getImageData(0, y, canvas.width, 1);
    let painted = 0;
    for (let byte = 0; byte < data.length; byte += 4)
      if (data[byte] < 250 || data[byte + 1] < 250 || data[byte + 2] < 250) painted++;
    watched.least = Math.min(watched.least, painted / canvas.width);
    requestAnimationFrame(look);
  };
  look();
}
