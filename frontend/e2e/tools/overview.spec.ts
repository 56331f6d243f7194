/** The overview: what it says is what the server says, and everything on it leads somewhere. */
import { describe, expect, test } from "vitest";
import { eventually, release, settled, textOf } from "../harness/browser";
import { brokenTexts, expectGoodLooks, FIRST_LOOK } from "../harness/looks";
import { expectNumber, expectPercent, expectTime } from "../harness/readings";
import { addressOf, column, RECORDED, rows } from "../harness/servers";
import { server } from "../harness/shared_server";
import { canvas, columnAt, overviewPages, SLOW, slider, TOOL, tables, tile } from "./overview_page";

const MADE = ["hosts", "one", "none", "many"];

const show = overviewPages();

test.each([...RECORDED, ...MADE])("%s: verdict and tiles are the server's", async (run) => {
  const page = await show(run);
  const found = await tables(run);
  const figures = new Map(rows(found[8]).map((row) => [row.id, row]));
  const number = (id: string) => Number(figures.get(id)?.value ?? Number.NaN);
  await settled(page);
  const verdict = await textOf(page.locator(".verdict"));
  const findings = rows(found[7]);
  const finding =
    findings.find(({ severity }) => severity === "high" || severity === "moderate") ?? findings[0];
  const stepMs = number("step_time_average");
  if (Number.isNaN(stepMs)) expect(verdict).toContain("Step times are unknown");
  else if (finding) {
    expect(verdict).toContain(String(finding.title));
    const [, saved] = verdict.split("At most ");
    if (finding.gain_ms) {
      expectTime(saved, Number(finding.gain_ms) * 1000);
      expectTime(saved.split(" of ")[1], stepMs * 1000);
    }
  }
  await expect.poll(() => page.locator(".tile").count()).toBe(5);
  const value = async (name: string) => textOf(tile(page, name).locator(".figure-value"));
  const reasons: [string, string][] = [];
  const isCpu = figures.has("host_compute");
  for (const [name, id] of [
    [number("slow_steps") > 0 ? "Typical step" : "Average step", "step_time_average"],
    ["Waiting for input", "waiting_for_input"],
    isCpu ? ["Host compute", "host_compute"] : ["Device busy", "device_busy"],
  ]) {
    const text = await value(name);
    if (Number.isNaN(number(id))) reasons.push([name, id]);
    else if (id === "step_time_average") expectTime(text, number(id) * 1000);
    else expectPercent(text, number(id));
  }
  if (isCpu) {
    expectNumber(await value("Threads at work"), number("threads_at_work"));
    await expect.poll(() => page.locator(".tile .figure-value", { hasText: "–" }).count()).toBe(0);
    await expect.poll(() => brokenTexts(page)).toEqual([]);
    return;
  }
  const precisions = ["8", "16", "unknown", "tf32", "32", "64"];
  const shares = precisions.map((id) => number(`device_compute_${id}`) || 0);
  if (Math.max(...shares) > 0)
    await eventually(async () => expectPercent(await value("Precision"), Math.max(...shares)));
  else reasons.push(["Precision", "device_compute_16"]);
  if (Number.isNaN(number("peak_memory"))) reasons.push(["Peak memory", "peak_memory"]);
  else await expect.poll(() => value("Peak memory")).toMatch(/^[\d.]+ [KMGT]?i?B$/);
  for (const [name, id] of reasons) {
    await expect.poll(() => value(name)).toBe("–");
    const reason = String(figures.get(id)?.reason ?? "");
    await expect
      .poll(async () => (await textOf(tile(page, name))).toLowerCase())
      .toContain(reason.toLowerCase());
    expect(reason).not.toBe("");
  }
  await expect.poll(() => brokenTexts(page)).toEqual([]);
});

describe("what it leads to", () => {
  test("recommendations, the largest gain first, with evidence on other pages", async () => {
    const page = await show("hosts");
    const [, , , , , , , table] = await tables("hosts");
    const findings = rows(table);
    expect(findings.length).toBeGreaterThan(2);
    const gains = findings.map(({ gain_ms }) => Number(gain_ms ?? 0));
    expect(gains).toEqual(gains.toSorted((a, b) => b - a));
    const items = page.locator(".findings > li");
    await expect
      .poll(() => items.locator(".finding-title").allTextContents())
      .toEqual(findings.map(({ title }) => title));
    for (const [at, { title, evidence_tool, evidence_query }] of findings.entries()) {
      await eventually(async () =>
        expectTime(await textOf(items.nth(at).locator(".finding-value")), gains[at] * 1000),
      );
      if (evidence_tool === TOOL) continue;
      const item = page.locator(".findings > li", { hasText: String(title) });
      if ((await item.locator("details[open]").count()) === 0)
        await item.locator("summary").click();
      const evidence = item.getByRole("link", { name: /^Evidence/ });
      // Read off the link: the page that it leads to goes on from there.
      const leadsTo = new URLSearchParams((await evidence.getAttribute("href"))!.slice(1));
      for (const [key, value] of new URLSearchParams(String(evidence_query)))
        expect(leadsTo.get(key)).toBe(value);
      await evidence.click();
      await page.waitForURL(new RegExp(`tool=${evidence_tool}`));
      if (evidence_tool === "framework_op_stats") {
        const names = page.locator(".grid-body .grid-row .name");
        await names.first().waitFor();
        await expect.poll(() => names.count()).toBe(1);
        await expect.poll(() => names.first().getAttribute("title")).toContain("CollectiveReduce");
      }
      await page.goBack();
      await page.locator(".tile").first().waitFor();
    }
  });

  test.each(["hosts", "none"])("%s: top ops are rows of the op page", async (run) => {
    const page = await show(run);
    const [ops] = await tables(run);
    const names = column(ops, "operation").map(String);
    const links = page.locator(".top-ops .op-link");
    await expect.poll(() => links.count()).toBe(names.length);
    const shares = page.locator(".top-ops tbody tr");
    for (const [at, share] of column(ops, "selfTimePercent").entries())
      await eventually(async () =>
        expectPercent(await textOf(shares.nth(at).locator("td").nth(3)), Number(share) * 100),
      );
    await links.first().click();
    await page.waitForURL(/tool=framework_op_stats/);
    await page.getByRole("treegrid", { name: "Ops" }).getByRole("row").nth(1).waitFor();
    await expect.poll(() => textOf(page.locator(".table-count"))).toMatch(/^1 of/);
    const name = page.locator(".grid-body .grid-row .name").first();
    await expect.poll(() => name.getAttribute("title")).toBe(names[0]);
  });
});

test("another event can mark the steps: address and request tell it", async () => {
  const page = await show("hosts");
  await page.getByRole("button", { name: /^Step marker/ }).click();
  const options = page.getByRole("option");
  await expect
    .poll(() => options.filter({ hasText: "train" }).getAttribute("aria-selected"))
    .toBe("true");
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.url().includes("marker=half")),
    options.filter({ hasText: "half" }).click(),
  ]);
  expect(request.url()).toContain(`tag=${TOOL}`);
  await page.waitForURL(/marker=half/);
  const [, steps] = await tables("hosts", { marker: "half" });
  const count = column(steps, "stepnum").length;
  expect(count).toBeGreaterThan(12);
  await expect.poll(() => slider(page).getAttribute("aria-valuemax")).toBe(String(count - 1));
  await page.locator(".marker-picker").getByText("half").waitFor();
  // Pages that have the parameter share it; what they show goes back with it.
  await page.locator(".tabs").getByText("Input", { exact: true }).click();
  await page.waitForURL(/tool=input_pipeline_analyzer.*marker=half/);
  await page.goBack();
  await page.getByRole("button", { name: /^Step marker/ }).click();
  await page.getByRole("option", { name: /Automatic/ }).click();
  await expect.poll(() => slider(page).getAttribute("aria-valuemax")).toBe("11");
  await expect.poll(() => page.url()).not.toContain("marker=");
});

test("steps that nothing marks are said to be inferred", async () => {
  const page = await show("many");
  await expect.poll(() => textOf(page.locator(".marker-picker .tag"))).toBe("inferred");
  const marked = await show("hosts");
  await expect.poll(() => marked.locator(".marker-picker .tag").count()).toBe(0);
});

test("without steps it says why, and shows the rest", async () => {
  const page = await show("none");
  const [, steps] = await tables("none");
  await expect.poll(() => textOf(page.locator(".verdict"))).toContain(String(steps?.p?.step_note));
  await page.getByRole("heading", { name: "No steps in this trace" }).waitFor();
  await expect.poll(() => slider(page).count()).toBe(0);
  await page.getByRole("button", { name: "Copy the code for JAX" }).waitFor();
  await expect.poll(() => page.locator(".top-ops .op-link").count()).toBe(2);
  await page.getByRole("heading", { name: "Run environment" }).waitFor();
  await expect.poll(() => page.locator(".findings > li").count()).toBeGreaterThan(0);
});

test("a single step has no deviation, and its marker's name is text", async () => {
  const page = await show("one");
  await expect.poll(() => textOf(tile(page, "Average step"))).not.toContain("σ");
  await expect.poll(() => textOf(page.locator(".marker-picker"))).toContain("<img src=x");
  await expect.poll(() => slider(page).getAttribute("aria-valuemax")).toBe("0");
  const { x, y } = await columnAt(page, 0, 1);
  await page.mouse.move(x, y);
  await page.locator(".step-card").getByText("<img src=x").waitFor();
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
});

test("one host and all hosts have numbers of their own", async () => {
  const page = await show("hosts");
  const waiting = async (hosts: string) => {
    const found = rows((await tables("hosts", hosts ? { hosts } : {}))[8]);
    return Number(found.find(({ id }) => id === "waiting_for_input")?.value);
  };
  const shown = () => textOf(tile(page, "Waiting for input").locator(".figure-value"));
  const [all, first, second] = [
    await waiting(""),
    await waiting("worker-0"),
    await waiting("worker-1"),
  ];
  expect(new Set([all, first, second]).size).toBe(3);
  await eventually(async () => expectPercent(await shown(), all));
  await page.getByRole("button", { name: /^Hosts/ }).click();
  await page.getByRole("option", { name: /^✓?worker-0/ }).click();
  await expect.poll(shown).toBe(`${first.toFixed(1)} %`);
  await page.getByRole("option", { name: /^✓?worker-1/ }).click();
  await expect.poll(shown).toBe(`${all.toFixed(1)} %`);
  await page.keyboard.press("Escape");
  await page.goto(addressOf(server, "hosts", TOOL, { hosts: "worker-1" }));
  await page.reload();
  await page.locator(".tile").first().waitFor();
  await eventually(async () => expectPercent(await shown(), second));
});

test("looks right", async () => {
  for (const run of ["hosts", SLOW, "none"]) {
    const page = await show(run, {}, FIRST_LOOK);
    if (run !== "none") await canvas(page).waitFor();
    await expectGoodLooks(page);
    await release(page);
  }
});
