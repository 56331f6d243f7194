/** The programs page: from the overview to an op's place, its distance from the roof and its text. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { eventually, settled } from "../harness/browser";
import { expectGoodLooks, FIRST_LOOK } from "../harness/looks";
import { addressOf, TRACES } from "../harness/servers";
import { server } from "../harness/shared_server";
import { toolRuns } from "../harness/tool_runs";
import { watchedBrowser } from "../harness/watched_browser";

// A drawn GPU: `p` moves data at 80 % of the bandwidth, `d` multiplies at 91 % of the peak.
const RUN = "programs";
const { show } = toolRuns("op_profile", async (page) => {
  await grid(page).getByRole("row").nth(1).waitFor();
  await settled(page);
});
const open = watchedBrowser();
const grid = (page: Page) => page.getByRole("treegrid", { name: "Ops" });
const row = (page: Page, name: string) =>
  grid(page)
    .getByRole("row")
    .filter({ has: page.getByText(name, { exact: true }) });
const details = (page: Page) => page.locator(".program-details");
const parameter = (page: Page, name: string) =>
  new URLSearchParams(new URL(page.url()).hash.slice(1)).get(name);
const rowCount = (page: Page) => grid(page).getByRole("row").count();

test("three clicks lead from the overview to the op that wastes most, and to its text", async () => {
  const { page } = await open(addressOf(server, RUN, "overview_page"));
  await page.getByRole("link", { name: "Programs", exact: true }).first().click();
  await row(page, "p").click();
  await details(page).getByText("train.py:13").waitFor();
  await details(page).getByText("could save at most 18.0 µs").waitFor();
  await details(page)
    .getByText(/80\.0 % of the peak/)
    .waitFor();
  await eventually(async () => expect(parameter(page, "node_name")).toBe("p"));
  await details(page).getByText("HLO text", { exact: true }).click();
  await details(page).getByText("%p = f32[120000]").waitFor();
});

test("what wastes most comes first, whatever ops are grouped by", async () => {
  const page = await show(RUN);
  const at = async (name: string) => Number(await row(page, name).getAttribute("aria-rowindex"));
  expect(await at("non-fusion elementwise")).toBeLessThan(await at("dot"));
  for (const [group, name] of [
    ["Category", "non-fusion elementwise"],
    ["Framework op", "jit(f)"],
    ["Source line", "train.py"],
  ]) {
    await page.getByRole("radio", { name: group }).check();
    await row(page, name).first().waitFor();
  }
  await eventually(async () => expect(parameter(page, "group")).toBe("source"));
});

test("levels open and close by keys, and a picture's op is the table's", async () => {
  const page = await show(RUN);
  const program = row(page, "jit_f(7)");
  await eventually(async () => expect(await program.getAttribute("aria-expanded")).toBe("true"));
  const open_ = await rowCount(page);
  await program.click();
  await page.keyboard.press("ArrowLeft");
  await eventually(async () => expect(await program.getAttribute("aria-expanded")).toBe("false"));
  expect(await rowCount(page)).toBeLessThan(open_);
  await page.keyboard.press("ArrowRight");
  await eventually(async () => expect(await rowCount(page)).toBe(open_));
});

test("an op leads to its neighbors, its events and its kernels", async () => {
  for (const [link, tool, parameters] of [
    ["Show its operands and users", "graph_viewer", { node_name: "p", program_id: "7" }],
    ["Show its program's memory", "memory_viewer", { program_id: "7" }],
    [
      "ampere_s1688gemm_128x128",
      "kernel_stats",
      {
        "f.kernel_name": "=ampere_s1688gemm_128x128",
      },
    ],
    ["Show in the trace viewer", "trace_viewer", { q: "instruction:p program:7" }],
  ] as const) {
    const page = await show(RUN, { node_name: "p", program_id: "7" });
    await details(page).getByRole("link", { name: link }).click();
    await eventually(async () => expect(parameter(page, "tool")).toBe(tool));
    for (const [name, value] of Object.entries(parameters))
      expect(parameter(page, name)).toBe(value);
    await settled(page);
  }
});

test("looks well", async () => {
  const page = await show(TRACES ? "amd" : RUN, {}, FIRST_LOOK);
  await expectGoodLooks(page);
});
