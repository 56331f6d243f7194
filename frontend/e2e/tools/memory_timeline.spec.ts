/** The memory timeline: its areas, under pointer and keys, as a table and as files. */
import { expect, test } from "vitest";
import { clickIn, colorOf, eventually, pixels, textOf } from "../harness/browser";
import { TRACES } from "../harness/servers";
import {
  across,
  breakdown,
  card,
  cardFacts,
  expectBytes,
  expectCard,
  instant,
  memoryRuns,
  parameter,
  placeIn,
  plot,
  RUN,
  settled,
  wholeOf,
} from "./memory_page";

const { answer, show } = memoryRuns();

test("the areas are stack and heap, and free memory where it is asked for", async () => {
  const run = TRACES ? "tpu" : "memory";
  const page = await show(run);
  const canvas = page.locator(".memory-frame canvas");
  const seen = async (name: string) =>
    (await pixels(canvas)).get(await colorOf(page, `--c-${name}`)) ?? 0;
  if (TRACES) await expect.poll(() => seen("input")).toBeGreaterThan(500);
  else await expect.poll(() => seen("output")).toBeGreaterThan(500);
  expect(await seen("compute16")).toBe(0);
  await page.getByRole("button", { name: "Free", exact: true }).click();
  await expect.poll(() => seen("compute16")).toBeGreaterThan(500);
  await expect.poll(() => parameter(page, "hide")).not.toBeNull();
  await page.getByRole("button", { name: "Free", exact: true }).click();
  await expect.poll(() => seen("compute16")).toBe(0);
  await expect.poll(() => parameter(page, "hide")).toBeNull();
});

test.runIf(TRACES)(
  "the timeline opens on the steps and the peak, and shows the whole recording when asked",
  async () => {
    const page = await show(RUN);
    const whole = page.getByRole("button", { name: "Whole recording" });
    await whole.click();
    await expect.poll(() => parameter(page, "from_ps")).not.toBeNull();
    await page.getByRole("button", { name: "Steps and peak" }).click();
    await expect.poll(() => parameter(page, "from_ps")).toBeNull();
    await whole.waitFor();
  },
);

test("pointing at an event tells its ten facts; the peak is flagged where it is", async () => {
  const memory = await answer(RUN);
  const page = await show(RUN, wholeOf(memory));
  const { peak_ps } = memory.memory_ids[memory.chosen];
  const { time_ps, stack_bytes, heap_bytes } = memory.timeline;
  await page.mouse.move(...(await placeIn(plot(page), across(memory, peak_ps))));
  await card(page).waitFor();
  const most = Math.max(...time_ps.map((_, index) => stack_bytes[index]! + heap_bytes[index]!));
  await eventually(async () => expectBytes((await cardFacts(page)).memory_in_use, most));
  await eventually(async () => {
    const box = (await plot(page).boundingBox())!;
    const flag = (await page.locator(".memory-flag").boundingBox())!;
    const x = box.x + across(memory, peak_ps) * box.width;
    expect(Math.min(Math.abs(flag.x - x), Math.abs(flag.x + flag.width - x))).toBeLessThan(3);
  });
});

test("arrow keys go through every event; Enter breaks it down", async () => {
  const memory = await answer(RUN);
  const page = await show(RUN, wholeOf(memory));
  await plot(page).focus();
  for (const point of [0, 1, 2]) {
    await page.keyboard.press("ArrowRight");
    await expectCard(page, memory, point);
  }
  const free = memory.timeline.is_allocation.indexOf(0);
  await page.keyboard.press("End");
  const last = memory.timeline.time_ps.length - 1;
  await expectCard(page, memory, last);
  for (let point = last; point > Math.max(free, last - 40); point--)
    await page.keyboard.press("ArrowLeft");
  const at = Math.max(free, last - 40);
  await expectCard(page, memory, at);
  await expect.poll(() => plot(page).getAttribute("aria-valuetext")).toContain("Memory in use");
  await page.keyboard.press("Enter");
  const ps = String(memory.timeline.time_ps[at]);
  await expect.poll(() => parameter(page, "at_ps")).toBe(ps);
  await settled(page);
  const then = await answer(RUN, { at_ps: ps });
  await eventually(async () =>
    expectBytes(await textOf(instant(page)), then.breakdown.in_use_bytes),
  );
  await page.keyboard.press("p");
  await expect.poll(() => parameter(page, "at_ps")).toBeNull();
  await instant(page).getByText(", the peak").waitFor();
  await page.keyboard.press("+");
  await expect.poll(() => parameter(page, "from_ps")).not.toBeNull();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await expect.poll(() => parameter(page, "from_ps")).toBeNull();
});

test("a click chooses the instant, and the breakdown is of it, whole", async () => {
  const memory = await answer(RUN);
  const page = await show(RUN, wholeOf(memory));
  const rows = memory.breakdown.rows.allocated_bytes.length;
  await expect.poll(() => breakdown(page).getAttribute("aria-rowcount")).toBe(String(rows + 2));
  const { time_ps } = memory.timeline;
  await clickIn(plot(page), across(memory, time_ps[0]!) + 0.002, 0.6);
  await expect.poll(() => parameter(page, "at_ps")).not.toBeNull();
  await settled(page);
  const then = await answer(RUN, { at_ps: parameter(page, "at_ps")! });
  expect(then.breakdown.is_peak).toBe(false);
  await expect
    .poll(() => breakdown(page).getAttribute("aria-rowcount"))
    .toBe(String(then.breakdown.rows.allocated_bytes.length + 2));
  await eventually(async () =>
    expectBytes(await textOf(instant(page)), then.breakdown.in_use_bytes),
  );
  const sum = then.breakdown.rows.allocated_bytes.reduce<number>(
    (all, one) => all + Number(one),
    0,
  );
  expect(sum).toBe(then.breakdown.in_use_bytes);
  await instant(page).getByRole("button", { name: "Back to the peak" }).click();
  await instant(page).getByText(", the peak").waitFor();
});

test("a brush asks for its window and shows more; a double click shows everything", async () => {
  const page = await show("memory_many");
  const whole = await answer("memory_many");
  expect(whole.timeline.is_sampled).toBe(true);
  expect(whole.timeline.time_ps.length).toBeLessThanOrEqual(2000);
  const asked = page.waitForRequest(/data\?.*from_ps=\d+&to_ps=\d+/);
  await page.mouse.move(...(await placeIn(plot(page), 0.5)));
  await page.mouse.down();
  await page.mouse.move(...(await placeIn(plot(page), 0.53)), { steps: 4 });
  await page.mouse.move(...(await placeIn(plot(page), 0.55)), { steps: 4 });
  await page.mouse.up();
  const query = new URL((await asked).url()).searchParams;
  await settled(page);
  const [from, to] = [query.get("from_ps"), query.get("to_ps")].map(Number);
  const length = whole.end_ps - whole.begin_ps;
  expect((from - whole.begin_ps) / length).toBeCloseTo(0.5, 2);
  expect((to - whole.begin_ps) / length).toBeCloseTo(0.55, 2);
  const part = await answer("memory_many", { from_ps: String(from), to_ps: String(to) });
  expect(part.timeline.is_sampled).toBe(false);
  const drawn = whole.timeline.time_ps.filter((ps) => ps! >= from && ps! <= to).length;
  expect(part.timeline.events).toBeGreaterThan(2 * drawn);
  await expect
    .poll(() => textOf(page.locator(".memory-drawn")))
    .toBe(`${part.timeline.events} events`);
  await expect
    .poll(() => plot(page).getAttribute("aria-valuemax"))
    .toBe(String(part.timeline.time_ps.length - 1));
  await expect.poll(() => parameter(page, "from_ps")).toBe(String(from));
  await page.mouse.dblclick(...(await placeIn(plot(page), 0.4)));
  await expect.poll(() => parameter(page, "from_ps")).toBeNull();
  expect(parameter(page, "at_ps")).toBeNull();
  await page.getByText("12,000 events, drawn as").waitFor();
});

test("the timeline as a table", async () => {
  const page = await show(RUN);
  const { timeline } = await answer(RUN);
  await page.getByRole("button", { name: "Menu of “Memory timeline”" }).click();
  await page.getByRole("menuitem", { name: "As table" }).click();
  const table = page.getByRole("treegrid", { name: "Memory timeline" });
  await table.getByRole("row").nth(1).waitFor();
  await expect
    .poll(() => table.getAttribute("aria-rowcount"))
    .toBe(String(timeline.time_ps.length + 2));
  await page.getByRole("button", { name: "Menu of “Memory timeline”" }).click();
  await page.getByRole("menuitem", { name: "As chart" }).click();
  await page.locator(".memory-frame canvas").waitFor();
});

test("the timeline is saved as SVG, PNG and CSV", async () => {
  const page = await show(RUN);
  for (const kind of ["SVG", "PNG", "CSV"]) {
    await page.getByRole("button", { name: "Menu of “Memory timeline”" }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: `Save as ${kind}` }).click();
    expect((await download).suggestedFilename()).toMatch(
      new RegExp(`timeline\\.${kind.toLowerCase()}$`),
    );
  }
});
