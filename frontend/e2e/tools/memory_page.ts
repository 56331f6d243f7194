/** What the tests of the memory page read off it, and off the server's answers. */
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { eventually, settled as isIdle, textOf } from "../harness/browser";
import { expectNumber } from "../harness/readings";
import { TRACES } from "../harness/servers";
import { toolRuns } from "../harness/tool_runs";

export const GIB = 2 ** 30;
const SIZES_OF: Readonly<Record<string, number>> = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: GIB };

type Values = readonly (number | null)[];
interface Allocator {
  readonly id: string;
  readonly label: string;
  readonly allocations: number;
  readonly deallocations: number;
  readonly capacity_bytes: number;
  readonly lifetime_bytes: number;
  readonly peak_bytes: number;
  readonly peak_ps: number;
  readonly peak_stack_bytes: number;
  readonly peak_heap_bytes: number;
  readonly peak_free_bytes: number;
  readonly peak_fragmentation: number;
}
export interface Answer {
  readonly memory_ids: readonly Allocator[];
  readonly chosen: number;
  readonly begin_ps: number;
  readonly end_ps: number;
  readonly timeline: Readonly<Record<string, Values>> & {
    readonly events: number;
    readonly is_sampled: boolean;
  };
  readonly texts: readonly string[];
  readonly steps: { readonly label: readonly string[] };
  readonly breakdown: {
    readonly at_ps: number;
    readonly is_peak: boolean;
    readonly in_use_bytes: number;
    readonly rows: Readonly<Record<string, readonly (number | string)[]>>;
  };
  readonly leaks: readonly { readonly op: string; readonly bytes_per_step: number }[];
}

/** The page shows what its address asks for. */
export async function settled(page: Page): Promise<void> {
  await page.locator('.memory-timeline[aria-busy="false"]').waitFor();
  await isIdle(page);
}

/** A real trace where this machine has one, else a drawn one. */
export const RUN = TRACES ? "v100" : "memory";

/** The memory pages of a file's tests. */
export function memoryRuns() {
  const runs = toolRuns("memory_profile", settled);
  return {
    ...runs,
    answer: (run: string, view: Readonly<Record<string, string>> = {}) =>
      runs.answer<Answer>(run, view),
  };
}

export const plot = (page: Page) => page.getByRole("slider", { name: "Memory timeline: event" });
export const card = (page: Page) => page.locator(".memory-card");
export const breakdown = (page: Page) => page.getByRole("treegrid", { name: "Memory breakdown" });
export const instant = (page: Page) => page.locator(".memory-instant-text");
export const parameter = (page: Page, name: string) =>
  new URLSearchParams(new URL(page.url()).hash.slice(1)).get(name);

/** The first amount of memory in a text is `bytes`. */
export function expectBytes(text: string, bytes: number): void {
  const match = /(-?[\d,.]+)\s(B|KiB|MiB|GiB)/.exec(text);
  expectNumber(match?.[1], bytes / (SIZES_OF[match?.[2] ?? ""] ?? Number.NaN), text);
}

/** A place within an element, as parts of its width and height. */
export async function placeIn(element: Locator, across: number, down = 0.6) {
  const box = (await element.boundingBox())!;
  return [box.x + across * box.width, box.y + down * box.height] as const;
}

/** The address of the whole recording. */
export function wholeOf({ begin_ps, end_ps }: Answer) {
  return { from_ps: String(begin_ps), to_ps: String(end_ps) };
}

/** Where an instant is, of the width of the whole recording. */
export function across({ begin_ps, end_ps }: Answer, ps: number): number {
  return (ps - begin_ps) / (end_ps - begin_ps);
}

export async function facts(page: Page): Promise<Readonly<Record<string, string>>> {
  const rows = await page.locator(".memory-fact").all();
  const read = rows.map(async (row) => {
    const label = await textOf(row.locator("dt .explained"));
    return [label, await textOf(row.locator("dd"))] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

/** The ten facts of the hover card by the names of the guide. */
export async function cardFacts(page: Page): Promise<Readonly<Record<string, string>>> {
  const rows = await card(page).locator("[data-fact]").all();
  const read = rows.map(
    async (row) => [await row.getAttribute("data-fact"), await textOf(row.locator("dd"))] as const,
  );
  return Object.fromEntries(await Promise.all(read));
}

/** The card tells the event at `point` of the server's timeline. */
export function expectCard(page: Page, answer: Answer, point: number) {
  return eventually(() => checkCard(page, answer, point));
}

async function checkCard(page: Page, { timeline, texts, steps }: Answer, point: number) {
  const told = await cardFacts(page);
  expect(Object.keys(told)).toEqual([
    "timestamp",
    "event",
    "requested_size",
    "allocation_size",
    "tf_op",
    "step_id",
    "region_type",
    "data_type",
    "tensor_shape",
    "memory_in_use",
  ]);
  expectNumber(/[\d,.]+/.exec(told.timestamp)?.[0], timeline.time_ps[point]! / 1e9);
  expect(told.event).toBe(timeline.is_allocation[point] ? "allocation" : "deallocation");
  expectBytes(told.requested_size, timeline.requested_bytes[point]!);
  expectBytes(told.allocation_size, timeline.allocated_bytes[point]!);
  expectBytes(told.memory_in_use, timeline.stack_bytes[point]! + timeline.heap_bytes[point]!);
  for (const [fact, column] of [
    ["tf_op", "op"],
    ["region_type", "region"],
    ["data_type", "dtype"],
    ["tensor_shape", "shape"],
  ]) {
    const text = texts[timeline[column][point]!];
    if (text) expect(told[fact]).toBe(text);
    else expect(told[fact]).toMatch(/^– \(.+\)$/);
  }
  const step = steps.label[timeline.step[point]!];
  if (step === undefined) expect(told.step_id).toMatch(/^– /);
  else expect(told.step_id).toBe(step);
}
