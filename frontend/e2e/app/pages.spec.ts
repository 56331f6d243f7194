/** Both pages on real traces: numbers as the server has them, tools of the table, address, looks. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { View } from "../../src/base/url_state";
import { eventually, settled } from "../harness/browser";
import { expectGoodLooks, FIRST_LOOK } from "../harness/looks";
import { addressOf, ROOT, TRACES } from "../harness/servers";
import { server } from "../harness/shared_server";
import { ownPages } from "../harness/watched_browser";

interface Column {
  readonly id: string;
}
interface Payload {
  readonly cols: Column[];
  readonly columns: (string | number | boolean | null)[][];
}

const open = ownPages();

// Not that of calls and annotations.
const grid = (page: Page) => page.getByRole("treegrid", { name: /^(Ops|Kernels)$/ });
/** The rows of data: the heading and the row of totals are counted by the grid too. */
const rowCount = async (page: Page) => Number(await grid(page).getAttribute("aria-rowcount")) - 2;

async function shown(page: Page): Promise<void> {
  await grid(page).getByRole("row").nth(1).waitFor();
  await settled(page);
}

async function payload(run: string, tag: string): Promise<Payload> {
  const query = new URLSearchParams({ run, tag, layout: "columns" });
  const answer = await fetch(`${server.url}data/plugin/profile/data?${query}`);
  const body = (await answer.json()) as Payload | Payload[];
  return Array.isArray(body) ? (body[1] as Payload) : body;
}

function column(table: Payload, id: string): (string | number | boolean | null)[] {
  return table.columns[table.cols.findIndex((col) => col.id === id)] ?? [];
}

const address = (run: string, tool: string, view: View = {}) => addressOf(server, run, tool, view);
const ROWS: View = { group: "none" };

describe("op stats on a recorded TensorFlow loop", () => {
  const run = "tensorflow_cpu_training";

  test("shows every op, largest self time first, and one pie per side and kind", async () => {
    const { page, problems } = await open(address(run, "framework_op_stats", ROWS));
    await shown(page);
    const table = await payload(run, "framework_op_stats");
    const operations = column(table, "operation");
    await expect.poll(() => rowCount(page)).toBe(operations.length);
    await expect.poll(() => page.getByRole("heading", { level: 1 }).textContent()).toBe("Op stats");
    await page.locator(".page-head", { hasText: "TensorFlow stats" }).waitFor();
    for (const name of ["Host self time by op", "Host self time by op type"]) {
      await expect.poll(() => page.getByRole("region", { name, exact: true }).count()).toBe(1);
    }
    await expect
      .poll(() => page.getByRole("region", { name: /^Device self time/ }).count())
      .toBe(0);
    const first = grid(page).getByRole("row").nth(1);
    await expect.poll(() => first.textContent()).toContain(String(operations[0]).slice(-12));
    expect(problems).toEqual([]);
  });

  test("sorts by click, filters with units, and says what a bad expression is", async () => {
    const { page, problems } = await open(address(run, "framework_op_stats", ROWS));
    await shown(page);
    const table = await payload(run, "framework_op_stats");
    await grid(page)
      .getByRole("button", { name: /^Occurrences/ })
      .click();
    const most = Math.max(...column(table, "occurrences").map(Number));
    await expect
      .poll(() => grid(page).getByRole("row").nth(1).textContent())
      .toContain(most.toLocaleString("en-US"));
    await page.keyboard.press("f");
    const total = page.getByRole("textbox", { name: /Total/ });
    await total.fill(">1ms");
    const expected = column(table, "total_time").filter((time) => Number(time) > 1000).length;
    await expect.poll(() => rowCount(page)).toBe(expected);
    await total.fill("");
    await page.getByRole("textbox", { name: /Operation/ }).fill("/conv2d.*Relu/");
    const matching = column(table, "operation").filter((name) =>
      /conv2d.*Relu/i.test(String(name)),
    );
    await expect.poll(() => rowCount(page)).toBe(matching.length);
    await page.getByRole("textbox", { name: /Operation/ }).fill("/(/");
    await page
      .getByText(/regular expression|unterminated|invalid/i)
      .first()
      .waitFor();
    expect(problems).toEqual([]);
  });

  test("idle time is left out until it is asked for, and the address remembers it", async () => {
    const { page, problems } = await open(address(run, "framework_op_stats", ROWS));
    await shown(page);
    const before = await rowCount(page);
    await page.getByRole("checkbox", { name: /idle/i }).check();
    await expect.poll(() => rowCount(page)).toBe(before + 1);
    await expect.poll(() => page.url()).toContain("idle");
    const link = page.url();
    const again = await open(link);
    await shown(again.page);
    await expect.poll(() => rowCount(again.page)).toBe(before + 1);
    await expect
      .poll(() => again.page.getByRole("checkbox", { name: /idle/i }).isChecked())
      .toBe(true);
    expect([...problems, ...again.problems]).toEqual([]);
  });

  test("exports what is shown as CSV", async () => {
    const { page, problems } = await open(address(run, "framework_op_stats", ROWS));
    await shown(page);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export as CSV" }).click(),
    ]);
    const lines = readFileSync(await download.path(), "utf8")
      .trim()
      .split(/\r?\n/);
    expect(lines.length - 1).toBe(await rowCount(page));
    expect(lines[0]).toMatch(/Rank/);
    expect(problems).toEqual([]);
  });

  test("the keyboard opens help, palette and rows", async () => {
    const { page, problems } = await open(address(run, "framework_op_stats", ROWS));
    await shown(page);
    for (const key of ["?", "Control+k"]) {
      await eventually(async () => {
        await page.keyboard.press(key);
        await page.getByRole("dialog").waitFor({ timeout: 5_000 });
      });
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    await grid(page).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await grid(page).locator('[aria-expanded="true"]').first().waitFor();
    expect(problems).toEqual([]);
  });

  test("what the overview loads first stays under 92 kB", async () => {
    const { page, received } = await open(address(run, "overview_page"), {
      isFresh: true,
    });
    await page.locator(".step-chart canvas").waitFor();
    await settled(page);
    await expect.poll(() => received()).toBeGreaterThan(50_000);
    expect(await received()).toBeLessThan(92_000);
  });
});

test("all pages together stay under 350 kB", () => {
  const folder = join(ROOT, "tbprof/static");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.(html|css|js)$/.test(name),
  );
  const sizes = files.map((name) => gzipSync(readFileSync(join(folder, name))).length);
  expect(files.length).toBeGreaterThan(20);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(350_000);
});

test("a trace without a GPU grays the kernel page and says why", async () => {
  const { page, problems } = await open(address("jax_cpu_training", "kernel_stats"));
  await page
    .getByText(/the trace has no GPU;/i)
    .first()
    .waitFor();
  expect(problems).toEqual([]);
});

describe.skipIf(!TRACES)("real V100 and TPU traces", () => {
  const v100 = "v100";

  test("kernels: one row per name, which opens to its pairs, and total time as the server has it", async () => {
    const { page, problems } = await open(address(v100, "kernel_stats"));
    await shown(page);
    const table = await payload(v100, "kernel_stats");
    const names = column(table, "kernel_name");
    await expect.poll(() => rowCount(page)).toBe(new Set(names).size);
    const times = new Map<unknown, number>();
    column(table, "total_duration_us").forEach((us, row) => {
      times.set(names[row], (times.get(names[row]) ?? 0) + Number(us));
    });
    const [first, most] = [...times].sort((a, b) => b[1] - a[1])[0];
    const row = grid(page).getByRole("row").nth(1);
    await expect.poll(() => row.textContent()).toContain(Math.round(most).toLocaleString("en-US"));
    const total = [...times.values()].reduce((sum, us) => sum + us, 0);
    await page
      .getByText(`${(total / 1000).toPrecision(3)} ms`)
      .first()
      .waitFor();
    const launches = column(table, "occurrences").reduce<number>((sum, n) => sum + Number(n), 0);
    await page.getByText(launches.toLocaleString("en-US")).first().waitFor();
    await grid(page).focus();
    await page.keyboard.press("Enter");
    const pairs = names.filter((name) => name === first).length;
    await expect.poll(() => rowCount(page)).toBe(times.size + pairs);
    // The idle time is counted from the events in tests/tools/kernels/test_kernel_detail.py.
    const detail = grid(page).locator(".grid-detail").first();
    const idle = detail.getByRole("row").filter({ hasText: "GPU idle before" }).first();
    await expect.poll(() => idle.textContent()).toBe("GPU idle before5.128.1927.3194");
    await expect.poll(() => detail.locator("svg rect").count()).toBe(24);
    const link = detail.getByRole("link", { name: "Show its launches" });
    await expect.poll(() => link.getAttribute("href")).toContain("q=kernel%3A");
    await idle.getByRole("button").click();
    await page.getByText("If kernels start together").waitFor();
    expect(problems).toEqual([]);
  });

  test("columns are resized by dragging and by double click, which the page remembers", async () => {
    const { page, problems } = await open(address(v100, "kernel_stats"), { isFresh: true });
    await shown(page);
    const head = grid(page).getByRole("columnheader", { name: /Kernel/ });
    const width = async () => (await head.boundingBox())!.width;
    const edge = (await head.locator(".resizer").boundingBox())!;
    const before = await width();
    await page.mouse.move(edge.x + edge.width - 2, edge.y + 10);
    await page.mouse.down();
    await page.mouse.move(edge.x + edge.width - 202, edge.y + 10);
    await page.mouse.up();
    await expect.poll(async () => Math.abs((await width()) - (before - 200))).toBeLessThan(2);
    await page.reload();
    await shown(page);
    await expect.poll(async () => Math.abs((await width()) - (before - 200))).toBeLessThan(2);
    await head.locator(".resizer").dblclick();
    const name = grid(page).locator(".grid-body .name-head").first();
    await expect.poll(() => name.evaluate((e) => e.scrollWidth - e.clientWidth)).toBe(0);
    await head.hover();
    await eventually(async () => {
      const [title, icon] = await Promise.all(
        [".sort-title", ".why"].map((part) => head.locator(part).boundingBox()),
      );
      expect(icon!.y).toBeGreaterThanOrEqual(title!.y + title!.height - 1);
    });
    expect(problems).toEqual([]);
  });

  test("ops: replicas and layers are folded, and charts name most of the time", async () => {
    const { page, problems } = await open(address(v100, "framework_op_stats"));
    await shown(page);
    const charts = page.getByRole("region", { name: /self time by op/ });
    await expect.poll(() => charts.count()).toBe(4);
    const others = charts.locator("li", { hasText: /\bothers?\b/ }).locator(".legend-share");
    await eventually(async () => {
      for (const share of await others.allTextContents())
        expect(Number.parseFloat(share)).toBeLessThan(50);
    });
    const first = grid(page).getByRole("row").nth(1).locator(".name").first();
    await expect
      .poll(() => first.getAttribute("title"))
      .toMatch(/^replica_\*\/.*\/layer_\*\/.*RandomUniform$/);
    expect(problems).toEqual([]);
  });

  test("a TPU trace opens", async () => {
    const { page, problems } = await open(address("tpu", "framework_op_stats"));
    await shown(page);
    await expect.poll(() => rowCount(page)).toBeGreaterThan(10);
    expect(problems).toEqual([]);
  });
});

test("nothing sticks out, axe finds nothing serious", async () => {
  const run = TRACES ? "v100" : "tensorflow_cpu_training";
  const tools = TRACES ? ["framework_op_stats", "kernel_stats"] : ["framework_op_stats"];
  for (const tool of tools) {
    const { page, problems } = await open(address(run, tool), FIRST_LOOK);
    await shown(page);
    if (tool === "kernel_stats") {
      await grid(page).focus();
      await page.keyboard.press("Enter");
      await grid(page).getByText("Queue time").waitFor();
    }
    await expectGoodLooks(page);
    expect(problems).toEqual([]);
  }
});
