/** The canvas of the trace viewer: its picture in both renderers, and its keys. */
import { expect, test } from "vitest";
import { colorOf, LARGE, release, settled } from "../harness/browser";
import {
  ALL,
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

const RENDERERS = ["webgl", "canvas"] as const;
/** Of the first step; the others lie 50 µs later each. */
const EVENTS: readonly (readonly [lane: string, depth: number, name: string, span: Span])[] = [
  ["e0", 0, "gemm_kernel", [12, 36]],
  ["e0", 0, "relu_kernel", [38, 44]],
  ["e1", 0, "MemcpyH2D", [2, 10]],
  ["e2", 0, "gemm_kernel", [12, 30]],
  ["e3", 0, "train", [0, 48]],
  ["e3", 1, "dense/MatMul:MatMul", [2, 22]],
  ["e3", 1, "$train.py:7 step", [26, 44]],
  ["e3", 2, "cuLaunchKernel", [5, 9]],
  ["e5", 0, "Iterator::Root::Map", [0, 16]],
];
const GAPS: readonly (readonly [lane: string, depth: number, span: Span])[] = [
  ["e0", 0, [0, 12]],
  ["e0", 0, [44, 62]],
  ["e1", 0, [10, 52]],
  ["e2", 0, [30, 62]],
  ["e3", 1, [44, 52]],
  ["e3", 2, [11, 30]],
  ["e5", 0, [16, 50]],
  ["e4", 0, [0, 10]],
];

const show = canvasOfRuns();

/** What is selected, and that the address has it. */
async function expectSelected(trace: TracePage, name: string, id: number, part = "e") {
  await expect.poll(() => trace.selected).toBe(`Selected: ${name}`);
  await expect.poll(() => trace.parameters.get("event")).toBe(`${part}${id}@host0`);
}

const expectView = (trace: TracePage, [from, to]: Span) =>
  expect
    .poll(() => trace.view.map((us) => us.toFixed(3)))
    .toEqual([from.toFixed(3), to.toFixed(3)]);

async function clickEvent(trace: TracePage, lane: string, depth: number, us: number) {
  await trace.page.mouse.click(trace.xOf(us), await trace.yOf(lane, depth));
}

test.each(RENDERERS)("%s: every rectangle is where its event is, in its color", async (kind) => {
  const trace = await show("drawn", ALL, { renderer: kind });
  const base = trace.page.locator(`${TIMELINE} .timeline-base`);
  await expect.poll(() => base.getAttribute("data-renderer")).toBe(kind);
  const background = await colorOf(trace.page, "--background");
  const steps = [0, 1, 2, 3];
  const at = ([from, to]: Span, step: number): Span => [from + step * 50, to + step * 50];
  const events = EVENTS.flatMap((event) => steps.map((step) => ({ event, step })));
  const boxes = await Promise.all(
    events.map(({ event: [lane, depth, , span], step }) =>
      trace.inside(lane, depth, at(span, step)),
    ),
  );
  const seen = await trace.colors(...boxes);
  events.forEach(({ event: [lane, , name], step }, place) => {
    expect(mostOf(seen[place]), `${name} of ${lane}, step ${step}`).toBe(colorOfName(name));
  });
  const gaps = await Promise.all(GAPS.map((gap) => trace.inside(...gap)));
  const fills = new Set(EVENTS.map(([, , name]) => colorOfName(name)));
  (await trace.colors(...gaps)).forEach((gap, place) => {
    expect(shareOf(gap, background), `gap ${GAPS[place]}`).toBeGreaterThan(0.85);
    expect([...gap.keys()].filter((color) => fills.has(color))).toEqual([]);
  });
  // The edge itself: the pixel column before an event is none of it, its first is darker.
  const [inner] = await Promise.all([trace.inside("e0", 0, [12, 36])]);
  const x = Math.round(trace.xOf(12));
  const columns = [x - 1, x, x + 1].map((left) => ({ ...inner, x: left, width: 1 }));
  const [before, edge, first] = (await trace.colors(...columns)).map(mostOf);
  expect([before, first]).toEqual([background, colorOfName("gemm_kernel")]);
  expect(edge).not.toBe(first);
  expect(edge).not.toBe(background);
});

test("both renderers paint the same pixels", async () => {
  const pictures: string[][] = [];
  for (const renderer of RENDERERS) {
    const trace = await show("drawn", ALL, { renderer });
    const { x, y, width, height } = trace.canvas;
    // Line by line, so that nothing may have moved.
    const lines = Array.from({ length: 430 }, (_, line) => ({ x, y: y + line, width, height: 1 }));
    expect(height).toBeGreaterThan(lines.length);
    const picture = async () =>
      (await trace.colors(...lines)).map((line) => [...line].toSorted().join(" "));
    // What had to be worked out may still be on its way to the canvas.
    let last = await picture();
    await expect
      .poll(async () => {
        const before = last;
        last = await picture();
        return last.join("\n") === before.join("\n");
      })
      .toBe(true);
    pictures.push(last);
    await release(trace.page);
  }
  expect(pictures[0].filter((line, index) => line !== pictures[1][index])).toEqual([]);
});

test.each(RENDERERS)(
  "%s: events too small to see are one block, near ones are not",
  async (kind) => {
    const trace = await show("dense", [1400, 4000], { ...MAIN, renderer: kind }, LARGE);
    const background = await colorOf(trace.page, "--background");
    const status = trace.page.locator(".trace-status span", { hasText: "drawn" });
    // 2.6 ms on 1,339 pixels: buckets of 2^21 ps, from the 667th, which begins at 1,398.8 µs, to the
    // 953rd, in which the last tiny event is; those from number 13,989 on; and the long one.
    await expect
      .poll(() => status.getAttribute("title"))
      .toBe("288 rectangles for the 6,012 events in view");
    const parts = [
      [1400, 2000],
      [2000, 3000],
      [3000, 4000],
    ] as const;
    const boxes = await Promise.all(parts.map((part) => trace.inside("e0", 0, part)));
    const [tiny, gap, long] = await trace.colors(...boxes);
    // Between two blocks there may be a pixel of what is free between them.
    expect(shareOf(tiny, colorOfName("tiny"))).toBeGreaterThan(0.95);
    expect([...tiny.keys()].filter((color) => color !== background)).toHaveLength(1);
    expect(shareOf(gap, background)).toBeGreaterThan(0.95);
    expect(mostOf(long)).toBe(colorOfName("long"));
    await release(trace.page);

    const near = await show("dense", [1000, 1001.99], { ...MAIN, renderer: kind });
    const count = near.page.locator(".trace-status span", { hasText: "drawn" });
    await expect.poll(() => count.textContent()).toBe("20 drawn");
    const each = [0, 7, 19].flatMap((at): Span[] => [
      [1000 + at * 0.1, 1000.08 + at * 0.1],
      [1000.08 + at * 0.1, 1000.1 + at * 0.1],
    ]);
    const inside = await Promise.all(each.map((span) => near.inside("e0", 0, span)));
    (await near.colors(...inside)).forEach((colors, index) => {
      expect(mostOf(colors)).toBe(index % 2 === 0 ? colorOfName("tiny") : background);
    });
  },
);

test("1 to 4 choose the tool, in the toolbar and in the address", async () => {
  const trace = await show("drawn", ALL);
  const tools = [
    ["2", "Pan", "pan"],
    ["3", "Zoom", "zoom"],
    ["4", "Timing", "timing"],
  ] as const;
  for (const [key, label, mode] of tools) {
    await trace.page.keyboard.press(key);
    await trace.page.getByRole("radio", { name: label, exact: true, checked: true }).waitFor();
    await expect.poll(() => trace.parameters.get("mode")).toBe(mode);
  }
  await trace.page.keyboard.press("1");
  await trace.page.getByRole("radio", { name: "Select", exact: true, checked: true }).waitFor();
  // The usual tool needs no word in the address.
  await expect.poll(() => trace.parameters.get("mode")).toBeNull();
});

test("W and S zoom at the pointer, A and D move", async () => {
  const trace = await show("drawn", [50, 150]);
  const x = Math.round(trace.xOf(80));
  const { keyboard, mouse } = trace.page;
  await mouse.move(x, trace.canvas.y + 60);
  const width = () => trace.view[1] - trace.view[0];
  const press = async (key: string) => {
    const before = trace.view;
    await keyboard.press(key);
    await expect.poll(() => trace.view).not.toEqual(before);
    return before[1] - before[0];
  };
  expect(await press("w")).toBeGreaterThan(width());
  expect(Math.abs(trace.xOf(80) - x)).toBeLessThan(1);
  expect(await press("s")).toBeLessThan(width());
  expect(Math.abs(trace.xOf(80) - x)).toBeLessThan(1);
  for (const [key, sign] of [
    ["a", -1],
    ["d", 1],
  ] as const) {
    const [from] = trace.view;
    expect(await press(key)).toBeCloseTo(width(), 4);
    expect(Math.sign(trace.view[0] - from)).toBe(sign);
  }
  // Held, it goes on until it is let go of.
  await keyboard.down("w");
  await expect.poll(() => trace.across()).toBeLessThan(20);
  await keyboard.up("w");
  await expect.poll(width).toBeLessThan(20);
});

test("the arrows go to the next, the former, the outer and the inner event", async () => {
  const trace = await show("drawn", ALL);
  await clickEvent(trace, "e3", 0, 24);
  await expectSelected(trace, "train", 16);
  const go = async (key: string, name: string, id: number) => {
    await trace.page.keyboard.press(key);
    await expectSelected(trace, name, id);
  };
  await go("ArrowDown", "dense/MatMul:MatMul", 20);
  await go("ArrowDown", "cuLaunchKernel", 28);
  await go("ArrowUp", "dense/MatMul:MatMul", 20);
  await go("ArrowRight", "$train.py:7 step", 21);
  await go("ArrowRight", "dense/MatMul:MatMul", 22);
  await go("ArrowLeft", "$train.py:7 step", 21);
  await go("ArrowUp", "train", 16);
  await go(".", "train", 17);
  await go(",", "train", 16);
  // Where there is none it stays.
  for (const key of ["ArrowUp", "ArrowLeft"]) {
    const answer = trace.page.waitForResponse(/timeline_event\?.*move=/);
    await trace.page.keyboard.press(key);
    expect(await (await answer).json()).toBeNull();
  }
  await go("ArrowRight", "train", 17);
});

test("F fits the selection, 0 shows all, Escape takes it back step by step", async () => {
  const trace = await show("drawn", ALL);
  const { keyboard } = trace.page;
  await clickEvent(trace, "e0", 0, 24);
  await expectSelected(trace, "gemm_kernel", 0);
  await keyboard.press("f");
  await expectView(trace, [12 - 2.4, 36 + 2.4]);
  await trace.page.locator(".trace-status", { hasText: "28.8 µs across" }).waitFor();
  const [box] = await trace.colors(await trace.inside("e0", 0, [12, 36]));
  expect(mostOf(box)).toBe(colorOfName("gemm_kernel"));
  // One per cent beside what there is on either side.
  await keyboard.press("0");
  await expectView(trace, [-2.1, 212.1]);
  await keyboard.press("4");
  const y = await trace.yOf("e0");
  await trace.drag([trace.xOf(62), y], [trace.xOf(86), y]);
  await expect.poll(() => trace.range?.map(Math.round)).toEqual([62, 86]);
  await keyboard.press("Escape");
  await expect.poll(() => trace.range).toBeNull();
  await expectSelected(trace, "gemm_kernel", 0);
  await keyboard.press("Escape");
  await expect.poll(() => trace.parameters.get("event")).toBeNull();
  await expect.poll(() => trace.selected).toBe("");
});

test("/ goes to the search, whose hits are marked and gone through", async () => {
  const trace = await show("drawn", ALL);
  const { page } = trace;
  const field = page.getByRole("textbox", { name: "Search events" });
  await page.keyboard.press("/");
  await expect.poll(() => field.evaluate((one) => one === document.activeElement)).toBe(true);
  // What is typed there is no key of the timeline.
  await page.keyboard.type("relu_kernel");
  await expect.poll(() => trace.parameters.get("q")).toBe("relu_kernel");
  await page.getByText(/4 hits · 4 in view/).waitFor();
  expect(trace.view).toEqual(ALL);
  const danger = await colorOf(page, "--danger");
  const { y } = await trace.laneBox("e0");
  const foot = ([from, to]: Span) => ({
    x: Math.round(trace.xOf(from)) + 2,
    y: y + ROW - 3,
    width: Math.round(trace.xOf(to) - trace.xOf(from)) - 4,
    height: 2,
  });
  const marked = async (span: Span) => mostOf((await trace.colors(foot(span)))[0]);
  await expect.poll(() => marked([38, 44])).toBe(danger);
  await expect.poll(() => marked([12, 36])).toBe(colorOfName("gemm_kernel"));
  await page.keyboard.press("Enter");
  await expectSelected(trace, "relu_kernel", 1);
  await page.keyboard.press("Enter");
  await expectSelected(trace, "relu_kernel", 3);
  await page.keyboard.press("Escape");
  await expect.poll(() => trace.parameters.get("q")).toBeNull();
});

test("M marks the selection or the pointer's place, and a mark can be labelled", async () => {
  const trace = await show("drawn", ALL, {}, LARGE);
  const { page } = trace;
  const marks = () => trace.parameters.get("marks");
  await clickEvent(trace, "e0", 0, 24);
  await expectSelected(trace, "gemm_kernel", 0);
  await settled(page); // only its details have its end exactly
  await page.keyboard.press("m");
  await expect.poll(marks).toBe("0.012..0.036~gemm_kernel");
  // The same key again: its label, without a pointer.
  await page.keyboard.press("m");
  const label = page.getByRole("textbox", { name: "Label of the mark" });
  await expect.poll(() => label.evaluate((field) => field === document.activeElement)).toBe(true);
  await expect.poll(() => label.inputValue()).toBe("gemm_kernel");
  await page.keyboard.type("slow");
  await page.keyboard.press("Enter");
  await expect.poll(marks).toBe("0.012..0.036~slow");
  await page.locator(TIMELINE).focus();
  await page.keyboard.press("Escape");
  await expect.poll(() => trace.selected).toBe("");
  const x = Math.round(trace.xOf(100));
  await page.mouse.move(x, trace.canvas.y + 60);
  await page.keyboard.press("m");
  await expect.poll(marks).toContain("~Mark 2");
  const [, at] = /,([\d.]+)~Mark 2/.exec(marks() ?? "") ?? [];
  expect(Math.abs(trace.xOf(Number(at) * 1e3) - x)).toBeLessThan(1);
  // Its line is drawn from the top to the bottom.
  await page.mouse.move(trace.canvas.x + 5, trace.canvas.y + trace.canvas.height - 5);
  const text = await colorOf(page, "--text");
  const line = { x, y: trace.canvas.y + 60, width: 1, height: 300 };
  await expect.poll(async () => shareOf((await trace.colors(line))[0], text)).toBe(1);
  await page.mouse.click(x + 10, trace.canvas.y + 10);
  await expect.poll(() => label.inputValue()).toBe("Mark 2");
  await label.fill("here, 100 % of it");
  await label.press("Enter");
  await expect.poll(marks).toContain("~here%2C 100 %25 of it");
  await page.reload();
  await trace.ready();
  await page.mouse.click(x + 10, trace.canvas.y + 10);
  await expect.poll(() => label.inputValue()).toBe("here, 100 % of it");
  await page.getByRole("button", { name: "Remove" }).click();
  await expect.poll(marks).toBe("0.012..0.036~slow");
});

test("? lists exactly the keys of the timeline", async () => {
  const trace = await show("drawn", ALL);
  await trace.page.keyboard.press("?");
  const section = trace.page
    .getByRole("dialog")
    .locator("section", { has: trace.page.getByRole("heading", { name: "Timeline" }) });
  const expected = "W S A D ← → ↑ ↓ , . F 0 Backspace / M 1 2 3 4 Escape".split(" ");
  await expect.poll(() => section.locator("dt").allTextContents()).toEqual(expected);
  expect(new Set(await section.locator("dd").allTextContents()).size).toBe(expected.length);
  // Behind the help they do nothing.
  await trace.page.keyboard.press("4");
  await trace.page.keyboard.press("Escape");
  await trace.page.getByRole("dialog").waitFor({ state: "detached" });
  await trace.page.getByRole("radio", { name: "Select", exact: true, checked: true }).waitFor();
});
