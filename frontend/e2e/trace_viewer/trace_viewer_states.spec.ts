/** The trace viewer on what is large, deep or nonsense, and at both sizes of window. */
import { describe, expect, test } from "vitest";
import { release } from "../harness/browser";
import { expectGoodLooks, FIRST_LOOK } from "../harness/looks";
import { RECORDED, TRACES } from "../harness/servers";
import {
  expectSelected,
  lane,
  openTrace,
  press,
  settled,
  status,
  timeline,
  viewOf,
} from "./trace_page";
import { drawer, expectCount, fact, field, parameter } from "./trace_panes_page";
import { type OpenOptions, traceRuns, type View } from "./trace_runs";

const runs = traceRuns();

const show = (run: string, view: View = {}, options: OpenOptions = {}) =>
  openTrace(runs, run, view, options);

test("100,000 tracks: few elements, small answers, and the last one is reached", async () => {
  const { page, received } = await show("tracks", {}, { isFresh: true });
  await expect.poll(() => status(page)).toMatch(/^300,000 events in the file.*300,000 indexed/);
  await expect.poll(() => page.locator(".trace-label").count()).toBeLessThan(150);
  await expect
    .poll(() => page.evaluate(() => document.querySelectorAll("*").length))
    .toBeLessThan(1500);
  await expect.poll(() => received(/timeline_tiles/)).toBeGreaterThan(0);
  expect(await received(/timeline_tiles/)).toBeLessThan(1_000_000);
  const tree = page.getByRole("tree");
  await tree.focus();
  await page.keyboard.press("End");
  const last = lane(page, "thread 99999");
  await last.waitFor();
  await settled(page);
  await page.keyboard.press("Home");
  await lane(page, "thread 0").waitFor();
});

test("calls that are 1,500 deep: all are counted, the stack is described", async () => {
  const { page } = await show("deep");
  await expect.poll(() => status(page)).toMatch(/^1,500 events in the file.*1,500 indexed/);
  await field(page).fill("recurse");
  await expectCount(page, /^1,500 hits/);
  await field(page).press("Enter");
  await page.getByRole("tab", { name: "Event" }).click();
  await expectSelected(page, "$deep.py:1 recurse");
  for (let depth = 1; depth < 4; depth++) {
    await press(page, "ArrowDown");
    await expect.poll(() => drawer(page).locator(".trace-stack li").count()).toBe(depth + 1);
  }
});

test("an event in an address is selected although its track is out of sight", async () => {
  const { page } = await show("tracks", { event: "e299999@host0" });
  await expectSelected(page, "inner");
  await expect.poll(() => fact(page, "Track")).toContain("thread 99999");
});

test("an address that says nonsense opens all the same", async () => {
  const nonsense = {
    from_ms: "x",
    to_ms: "-1",
    event: "e999999999@nobody",
    marks: "~,..,a..b",
    range: "5..1",
    pin: "zzz",
    color: "mauve",
    mode: "dig",
    tab: "none",
    min_us: "many",
    step: "no such step",
  };
  const { page } = await show("drawn", nonsense);
  await expect.poll(() => status(page)).toMatch(/[1-9]\d* drawn/);
  await settled(page);
  expect(parameter(page, "color")).toBeNull();
});

describe.runIf(TRACES)("recorded traces", () => {
  test.each(["v100", "tpu"])(
    "%s opens on a step, readable, and zooms to single events",
    async (run) => {
      const { page } = await show(run);
      await expect.poll(() => status(page)).toMatch(/[1-9][\d,]* drawn/);
      const whole = await viewOf(page).catch(() => null);
      expect(whole).not.toBeNull();
      for (let turn = 0; turn < 3; turn++) await press(page, "w");
      await settled(page);
      const picture = await timeline(page).screenshot();
      expect(picture.length).toBeGreaterThan(5_000);
    },
  );
});

test("looks right", async () => {
  for (const run of RECORDED.filter((one) => TRACES && ["v100", "tpu"].includes(one))) {
    const { page } = await show(run, { tab: "statistics" }, FIRST_LOOK);
    await expectGoodLooks(page);
    await page.getByRole("tab", { name: "Event" }).click();
    await expectGoodLooks(page);
    await release(page);
  }
});
