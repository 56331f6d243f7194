/** The trace viewer around its canvas, on a drawn trace of which all is known: details, search, sums. */
import { expect, test } from "vitest";
import { textOf } from "../harness/browser";
import { TRACES } from "../harness/servers";
import {
  ALL,
  drag,
  lane,
  openTrace,
  press,
  rowsOf,
  settled,
  spot,
  status,
  viewOf,
} from "./trace_page";
import { count, drawer, expectCount, field, lanes, parameter, tree } from "./trace_panes_page";
import { type OpenOptions, traceRuns, type View } from "./trace_runs";

const TIMELINE = "#trace-timeline";
const COMPUTE = "Stream #1(Compute)";

const runs = traceRuns();

const show = async (view: View = ALL) => (await openTrace(runs, "drawn", view)).page;

const width = ({ from, to }: { from: number; to: number }) => to - from;

test("it opens on the median step, with a hint at the keys the first time", async () => {
  const opened = await openTrace(runs, "drawn", {}, { first: undefined });
  const { page } = opened;
  await expect
    .poll(() => status(page))
    .toMatch(/^48 events in the file.*48 indexed.*[1-9]\d* drawn.*56\.0 µs/);
  const hint = page.getByRole("complementary", { name: "Keys" });
  await hint.getByRole("button", { name: "Got it" }).click();
  await page.reload();
  await settled(page);
  await expect.poll(() => hint.count()).toBe(0);
});

test.each(["eight", ...(TRACES ? ["v100", "tpu", "amd"] : [])])(
  "at first at least half of the rows of %s hold events; idle sections and launching threads are in sight",
  async (run) => {
    const { page } = await runs.openAt(runs.address(run));
    const canvas = page.locator(`${TIMELINE}:not([aria-busy="true"]) .timeline-base`);
    const fill = () =>
      canvas.evaluate(({ dataset }) => [Number(dataset.rows), Number(dataset.filled)]);
    await expect.poll(async () => (await fill())[0]).toBeGreaterThan(10);
    await expect
      .poll(async () => {
        const [rows, filled] = await fill();
        return filled / rows;
      })
      .toBeGreaterThanOrEqual(0.5);
    if (run === "eight")
      await page
        .locator('.trace-pinned [data-lane="pin e24@host0"]', { hasText: "python" })
        .waitFor();
    if (run === "v100")
      await expect.poll(() => textOf(page.locator(".trace-labels"))).toContain("no events here");
  },
);

test("the strip's brush moves and sizes the view, by pointer and by keys", async () => {
  const page = await show({ from_ms: "0.05", to_ms: "0.1" });
  const brush = page.getByRole("slider", { name: "Part of the trace in view" });
  const strip = (await page.locator(".trace-strip").boundingBox())!;
  const x = (us: number) => strip.x + (us / 210) * strip.width;
  const y = strip.y + 20;
  await drag(page, { x: x(75), y }, { x: x(125), y });
  const moved = await viewOf(page);
  expect(moved.from).toBeCloseTo(100, -1);
  expect(width(moved)).toBeCloseTo(50, 4);
  await drag(page, { x: x(10), y }, { x: x(40), y });
  const fresh = await viewOf(page);
  expect(fresh.from).toBeCloseTo(10, 0);
  expect(fresh.to).toBeCloseTo(40, 0);
  await brush.focus();
  await page.keyboard.press("ArrowRight");
  expect((await viewOf(page)).from).toBeCloseTo(fresh.from + 30 / 8, 1);
  await page.keyboard.press("End");
  expect((await viewOf(page)).to).toBeGreaterThan(200);
  await expect
    .poll(() => brush.getAttribute("aria-valuetext"))
    .toMatch(/30\.\d µs of 210 µs, from 1\d\d/);
});

test("a box adds up what lies in it: whole events, and parts of those at its edges", async () => {
  const page = await show();
  const from = await spot(lane(page, COMPUTE), 24);
  const to = await spot(lane(page, COMPUTE), 100);
  await drag(page, from, { x: to.x, y: to.y + 4 });
  const byName = () => rowsOf(page, "Events by name");
  // From 24: half of the first kernel (12 µs), relu (6), gemm (24), relu (6).
  await expect
    .poll(async () =>
      (await byName()).map(([name, , count, total]) => [name, count, Number(total).toFixed(0)]),
    )
    .toEqual([
      ["gemm_kernel", "2", "36"],
      ["relu_kernel", "2", "12"],
    ]);
  const [, category, , , self, mean, least, most, share] = (await byName())[0];
  expect([category, share]).toEqual(["compute", "75.0 %"]);
  expect([self, mean, least, most].map((text) => Math.round(Number(text)))).toEqual([
    36, 18, 12, 24,
  ]);
  const sums = page.locator(".trace-sums");
  await expect
    .poll(() => textOf(sums))
    .toMatch(/4 events.*busy (47\.\d|48\.\d) µs.*idle (27\.\d|28\.\d) µs/);
  await drawer(page).getByText("by track").click();
  await expect.poll(async () => (await rowsOf(page, "Events by track"))[0]?.[0]).toContain(COMPUTE);
  await drawer(page).getByText("by category").click();
  await expect
    .poll(async () => (await rowsOf(page, "Events by category"))[0]?.slice(0, 2))
    .toEqual(["compute", "4"]);
  await page.getByRole("grid").getByRole("button", { name: "Total" }).click();
  await press(page, "Escape");
  await drawer(page).getByText("No range is selected").waitFor();
});

test("the statistics follow what is in view", async () => {
  const page = await show({ ...ALL, tab: "statistics" });
  const count = async () =>
    (await rowsOf(page, /Events by/)).find(([name]) => name === "train")?.[2];
  await expect.poll(count).toBe("4");
  await page.getByRole("slider", { name: "Part of the trace in view" }).focus();
  for (let turn = 0; turn < 4; turn++) await page.keyboard.press("ArrowUp");
  await expect.poll(count).toBe("2");
  // A row marks its events.
  await page.getByRole("grid").getByText("train", { exact: true }).click();
  await expect.poll(() => field(page).inputValue()).toBe("whole:train");
});

/** A refused pattern is a failed request, which the browser logs. */
const REFUSED: OpenOptions = { forgives: /400/ };

test("the server judges regular expressions, and the search says what is wrong", async () => {
  const { page } = await openTrace(runs, "drawn", ALL, REFUSED);
  await page.getByRole("search").getByRole("button", { name: "Regular expression" }).click();
  await field(page).fill("^(relu|gemm)_");
  await expectCount(page, /^12 hits/);
  await expect.poll(() => parameter(page, "q")).toBe("^(relu|gemm)_");
  const alert = page.getByRole("search").getByRole("alert");
  for (const text of ["(gemm", "(a)\\1"]) {
    await field(page).fill(text);
    await expect
      .poll(() => textOf(alert))
      .toContain(`'${text}' is not a supported regular expression`);
    await expect.poll(() => field(page).getAttribute("aria-invalid")).toBe("true");
  }
  await field(page).fill("(?i)GEMM");
  await expectCount(page, /^8 hits/);
  await expect.poll(() => alert.count()).toBe(0);
});

test("the filter takes the server's regular expressions, and says what is wrong", async () => {
  const { page } = await openTrace(runs, "drawn", ALL, REFUSED);
  const events = page.locator(".trace-status span", { hasText: "drawn" });
  // Those of the file, and those worked out of them.
  await expect.poll(() => events.getAttribute("title")).toContain("for the 76 events");
  await page.getByRole("button", { name: /^Filter events/ }).click();
  const form = page.getByRole("dialog", { name: "Which events are drawn" });
  await form.getByRole("button", { name: "Regular expression" }).click();
  const name = form.getByRole("textbox", { name: "Name" });
  await name.fill("(gemm");
  await form.getByRole("alert").getByText("is not a supported regular expression").waitFor();
  await expect.poll(() => name.getAttribute("aria-invalid")).toBe("true");
  // Nothing is on its way, and the picture is the one before.
  await page.locator(`${TIMELINE}:not([aria-busy="true"])`).waitFor();
  await expect.poll(() => events.getAttribute("title")).toContain("for the 76 events");
  // One that JavaScript does not know.
  await name.fill("(?i)GEMM_KERNEL");
  await expect.poll(() => events.getAttribute("title")).toContain("for the 8 events");
  await expect.poll(() => form.getByRole("alert").count()).toBe(0);
});

const QUERIES: readonly (readonly [query: string, hits: string])[] = [
  ["whole:train", "4 hits"],
  ["whole:kernel", "no hits"],
  ["category:copies", "4 hits"],
  ["arg:correlation_id=101", "2 hits"],
  ["arg:kernel_details", "12 hits"],
  ["arg:note=of the op", "4 hits"],
  ["source:train.py", "4 hits"],
  ["device-op:dense/MatMul", "8 hits"],
  ["host-op:dense/MatMul", "4 hits"],
  ["kernel:gemm_kernel op:dense/MatMul", "8 hits"],
  ["input-op:Iterator::Root::Map", "4 hits"],
  ["iterator:Iterator::Root::Map", "4 hits"],
];

test("searches ask for names, categories, arguments, sources, and rows of other pages", async () => {
  const page = await show();
  for (const [query, text] of QUERIES) {
    await field(page).fill("no such event");
    await expect.poll(() => textOf(count(page))).toContain("no hits");
    await field(page).fill(query);
    await expect.poll(() => parameter(page, "q")).toBe(query);
    await expect.poll(() => textOf(count(page))).toContain(text);
  }
});

test("the tree works by keyboard", async () => {
  const page = await show();
  await tree(page).focus();
  const active = () => page.locator(".trace-label.active .trace-label-name").first().textContent();
  await page.keyboard.press("Home");
  await expect.poll(() => active()).toBe("/device:GPU:0");
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => lane(page, "/device:GPU:0").getAttribute("aria-expanded")).toBe("false");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect.poll(active).toBe("Steps");
  await page.keyboard.press("End");
  await settled(page);
  const last = await active();
  await page.keyboard.press("Alt+ArrowUp");
  await expect.poll(async () => (await lanes(page)).at(-1)).not.toBe(last);
  await page.keyboard.press("p");
  await expect.poll(async () => (await lanes(page))[0]).toBe(last);
  await page.keyboard.press("End");
  await settled(page);
  const hidden = await active();
  await page.keyboard.press("h");
  await expect
    .poll(async () => (await lanes(page)).filter((name) => name === hidden).length)
    .toBeLessThan(2);
});

test("the export is a trace that can be read", async () => {
  const page = await show();
  const export_ = async (item: string) => {
    await page.getByRole("button", { name: /^Export/ }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: item }).click(),
    ]);
    const stream = await download.createReadStream();
    const parts: Buffer[] = [];
    for await (const part of stream) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    return { name: download.suggestedFilename(), events: JSON.parse(text).traceEvents as Event[] };
  };
  interface Event {
    readonly ph: string;
    readonly name: string;
    readonly ts: number;
  }
  const whole = await export_("Whole trace (Chrome JSON)");
  expect(whole.name).toMatch(/^drawn_trace\.json/);
  const kernels = (events: readonly Event[]) =>
    events.filter(({ ph, name }) => ph === "X" && name === "gemm_kernel");
  expect(kernels(whole.events)).toHaveLength(8);
  await page.getByRole("slider", { name: "Part of the trace in view" }).focus();
  for (let turn = 0; turn < 5; turn++) await page.keyboard.press("ArrowUp");
  await settled(page);
  const part = await export_("Current view (Chrome JSON)");
  expect(kernels(part.events).length).toBeGreaterThan(0);
  expect(kernels(part.events).length).toBeLessThan(8);
});
