/** Program memory: figures, the charts under pointer and keys, what is in memory, other programs. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { settled, textOf } from "../harness/browser";
import { expectGoodLooks, FIRST_LOOK } from "../harness/looks";
import { TRACES } from "../harness/servers";
import { toolRuns } from "../harness/tool_runs";

interface Answer {
  readonly programs: { readonly name: readonly string[]; readonly program_id: readonly string[] };
  readonly chosen: number;
  readonly figures: { readonly peak_bytes: number; readonly events: number };
  readonly live: { readonly size_bytes: readonly number[] };
}

const TOOL = "memory_viewer";
const runs = toolRuns(TOOL, async (page) => {
  await page.locator(".heap-page").waitFor();
  await settled(page);
});
const RUN = "jax_cpu_training";

const parameter = (page: Page, name: string) =>
  new URLSearchParams(new URL(page.url()).hash.slice(1)).get(name);
const instant = (page: Page) => textOf(page.locator(".heap-instant-text"));

test.each([RUN, ...(TRACES ? ["tpu", "amd"] : [])])(
  "%s: the page is that of the program that needs most",
  async (run) => {
    const page = await runs.show(run);
    const { programs, chosen, figures, live } = await runs.answer<Answer>(run);
    const title = `${programs.name[chosen]}(${programs.program_id[chosen]})`;
    await expect.poll(() => textOf(page.locator(".heap-pickers .picker-value"))).toBe(title);
    expect(await page.locator(".heap-figure dd").first().getAttribute("title")).toBe(
      `${figures.peak_bytes.toLocaleString("en-US")} bytes`,
    );
    expect(await textOf(page.locator(".heap-live"))).toContain(`${live.size_bytes.length} arrays`);
    expect(await instant(page)).toContain(", the peak");
  },
);

test("a click and keys choose the event whose memory is listed", async () => {
  const page = await runs.show(RUN);
  const plot = page.locator(".memory-plot");
  const box = await plot.boundingBox();
  expect(box).not.toBeNull();
  if (!box) return;
  const { figures } = await runs.answer<Answer>(RUN);
  // In the middle of the third event.
  const x = (box.width * 2.5) / figures.events;
  await plot.click({ position: { x, y: 60 } });
  await expect.poll(() => parameter(page, "instant")).toBe("2");
  await expect.poll(() => instant(page)).toContain("after event 2 ");
  await plot.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await expect.poll(() => instant(page)).toContain("after event 3 ");
  await page.locator(".memory-flag").click();
  await expect.poll(() => parameter(page, "instant")).toBeNull();
  await expect.poll(() => instant(page)).toContain(", the peak");
  await page.getByRole("button", { name: "All arrays" }).click();
  await expect.poll(() => instant(page)).toContain("over the whole program");
});

test("a drag shows those events alone, and a button all of them", async () => {
  const page = await runs.show(RUN);
  const box = await page.locator(".memory-plot").boundingBox();
  expect(box).not.toBeNull();
  if (!box) return;
  await page.mouse.move(box.x + box.width * 0.25, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 50, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => parameter(page, "from_event")).not.toBeNull();
  await settled(page);
  await page.getByRole("button", { name: "All events" }).click();
  await expect.poll(() => parameter(page, "from_event")).toBeNull();
});

test("another program is found by its name", async () => {
  const page = await runs.show(RUN);
  await page.getByRole("button", { name: /^Program: / }).click();
  await page.getByRole("combobox", { name: "Search Programs" }).fill("_normal(14");
  await page.getByRole("option", { name: "jit__normal(14)" }).click();
  await expect.poll(() => parameter(page, "program_id")).toBe("14");
  await settled(page);
  await expect.poll(() => textOf(page.locator(".heap-sentence"))).toContain("8.00 MiB at the peak");
});

test("a program that is not there is said to, with one that is", async () => {
  const page = await runs.show(RUN, { program_id: "77" });
  expect(await textOf(page.locator(".heap-nothing"))).toContain("Program '77' is not in the trace");
  await page.getByRole("button", { name: "Show jit_train_step(26)" }).click();
  await expect
    .poll(() => textOf(page.locator(".heap-pickers .picker-value")))
    .toBe("jit_train_step(26)");
});

test("the page looks good", async () => {
  const page = await runs.show(RUN, {}, FIRST_LOOK);
  await expectGoodLooks(page);
});
