/** Capture profile, from an empty logdir to the overview, of a real program. */
import { type ChildProcess, spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import type { FrameLocator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { violations } from "../harness/looks";
import {
  holdAnswers,
  ROOT,
  type Server,
  serve,
  temporaryFolder,
  tensorBoard,
} from "../harness/servers";
import { ownPages } from "../harness/watched_browser";

const PYTHON = process.env.TBPROF_RECORD_PYTHON ?? "";
const PORT = 21_309;
const JAX_PORT = 21_399;

const open = ownPages();
let server: Server;
let folder: { path: string; remove: () => void };
/** What trains in TensorFlow: its import takes long, and the first tests do without. */
let program: Promise<ChildProcess> | undefined;

beforeAll(async () => {
  folder = temporaryFolder();
  server = await serve(folder.path);
  if (PYTHON !== "") program = train("serve_tensorflow.py", PORT);
});
afterAll(async () => {
  (await program)?.kill("SIGKILL");
  await server?.stop();
  folder?.remove();
});

/** A program that trains, with a profiler server; it is at its pace. */
function train(script: string, port: number): Promise<ChildProcess> {
  const child = spawn(PYTHON, [join(ROOT, "examples", script), String(port)], {
    env: { ...process.env, CUDA_VISIBLE_DEVICES: "", TF_CPP_MIN_LOG_LEVEL: "3" },
  });
  return new Promise((found, failed) => {
    child.stdout?.once("data", () => {
      // It takes every core that it gets: from now on the page and the server come first.
      if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
      found(child);
    });
    child.once("exit", (code) => failed(new Error(`the program ended (${code})`)));
  });
}

async function openDialog(page: Page | FrameLocator) {
  await page.locator(".bar").getByRole("button", { name: "Capture profile" }).click();
  const dialog = page.getByRole("dialog", { name: "Capture profile" });
  await dialog.getByLabel("Profile service URLs or TPU names").waitFor();
  return dialog;
}

test("mistakes are shown beside their field", async () => {
  const { page, problems } = await open(server.page);
  const dialog = await openDialog(page);
  const addresses = dialog.getByLabel("Profile service URLs or TPU names");
  await expect
    .poll(() => addresses.evaluate((field) => field === document.activeElement))
    .toBe(true);
  await addresses.fill("http://localhost:6006");
  await dialog.getByRole("button", { name: "Capture", exact: true }).click();
  await expect.poll(() => addresses.getAttribute("aria-invalid")).toBe("true");
  await dialog.getByText("is not the address of a profiler server").waitFor();
  await addresses.fill("localhost:1");
  await expect.poll(() => addresses.getAttribute("aria-invalid")).toBe("false");
  await dialog.getByLabel("Duration (ms)").fill("0");
  await addresses.press("Enter");
  await dialog.getByText("a duration of 0 ms cannot be recorded").waitFor();
  await expect
    .poll(() => dialog.getByLabel("Duration (ms)").getAttribute("aria-invalid"))
    .toBe("true");
  // A refused request is what was asked for here; the browser logs it.
  expect(problems.filter((problem) => !/status of 400/.test(problem))).toEqual([]);
});

test("presets choose levels and duration", async () => {
  const { page } = await open(server.page);
  const dialog = await openDialog(page);
  await dialog.getByRole("button", { name: "With Python" }).click();
  await expect.poll(() => dialog.getByLabel("Python tracing").inputValue()).toBe("1");
  await dialog.getByRole("button", { name: "Long, low overhead" }).click();
  await expect.poll(() => dialog.getByLabel("Python tracing").inputValue()).toBe("0");
  await expect.poll(() => dialog.getByLabel("Duration (ms)").inputValue()).toBe("5000");
  expect(await violations(page)).toEqual([]);
});

test("nobody there: each worker says why, and nothing is written", async () => {
  const { page } = await open(server.page);
  const dialog = await openDialog(page);
  const addresses = dialog.getByLabel("Profile service URLs or TPU names");
  await addresses.fill("localhost:1, no-such-host.invalid:2");
  await dialog.getByRole("button", { name: "Test connection" }).click();
  const tested = dialog.getByRole("list", { name: "Connections" });
  await tested.getByText("nothing listens on this port").waitFor();
  await tested.getByText("the host's name is not known").waitFor();
  await dialog.getByLabel("Automatic retries").fill("0");
  await dialog.getByRole("button", { name: "Capture", exact: true }).click();
  const workers = dialog.getByRole("list", { name: "Workers" });
  await workers.getByText("nothing listens on this port").waitFor();
  await dialog.getByText("Nothing was captured").waitFor();
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Capture again" }).click();
  await expect.poll(() => addresses.inputValue()).toBe("localhost:1, no-such-host.invalid:2");
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "No profiles yet" }).waitFor();
});

test("a restarted server is asked for its token, and has forgotten captures", async () => {
  const { page } = await open("about:blank");
  let asked = 0;
  await page.route("**/config", async (route) => {
    asked += 1;
    if (asked > 1) return route.continue();
    const answer = await route.fetch();
    const config = await answer.json();
    config.capture.token = "of-the-server-before";
    return route.fulfill({ response: answer, json: config });
  });
  await page.route("**/captures?id=*", (route) =>
    route.continue({ url: route.request().url().replace(/id=.*/, "id=forgotten") }),
  );
  await page.goto(server.page);
  const dialog = await openDialog(page);
  await dialog.getByLabel("Profile service URLs or TPU names").fill("localhost:1");
  await dialog.getByRole("button", { name: "Test connection" }).click();
  await dialog.getByText("nothing listens on this port").waitFor();
  expect(asked).toBe(2);
  await dialog.getByLabel("Automatic retries").fill("0");
  await dialog.getByRole("button", { name: "Capture", exact: true }).click();
  await dialog.getByText("This capture is gone").waitFor();
  await dialog.getByRole("button", { name: "Capture", exact: true }).waitFor();
  // Pages that are opened next would show it while it runs.
  const running = new URL("captures", server.page).href;
  await expect.poll(async () => (await page.request.get(running)).json()).toEqual({ captures: [] });
});

test("a server without captures offers none", async () => {
  const plain = await serve(join(ROOT, "examples/logdir"), undefined, "--no-capture");
  try {
    const { page } = await open(plain.page);
    await page.locator(".tiles").first().waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Capture profile" }).count()).toBe(0);
  } finally {
    await plain.stop();
  }
});

test.skipIf(PYTHON === "")("a capture can be cancelled, and goes on while it is shut", async () => {
  await program;
  const { page } = await open(server.page);
  const dialog = await openDialog(page);
  await dialog.getByLabel("Profile service URLs or TPU names").fill(`localhost:${PORT}`);
  await dialog.getByLabel("Duration (ms)").fill("600000");
  await dialog.getByRole("button", { name: "Capture", exact: true }).click();
  await dialog.getByText("recording", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.reload();
  await page.getByRole("button", { name: "Capturing…" }).click();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.getByText("Cancelled: nothing was written").waitFor();
});

test.skipIf(PYTHON === "")(
  "several workers, a slow and a dead one: the run opens whole",
  async () => {
    const empty = temporaryFolder();
    const own = await serve(empty.path);
    const [jax] = await Promise.all([train("serve_jax.py", JAX_PORT), program]);
    const slow = await holdAnswers(JAX_PORT);
    try {
      const { page } = await open(own.page);
      const dialog = await openDialog(page);
      const addresses = `localhost:${PORT}, localhost:${slow.port}, localhost:1`;
      await dialog.getByLabel("Profile service URLs or TPU names").fill(addresses);
      await dialog.getByLabel("Duration (ms)").fill("500");
      await dialog.getByLabel("Automatic retries").fill("0");
      await dialog.getByRole("button", { name: "Capture", exact: true }).click();
      const workers = dialog.getByRole("list", { name: "Workers" }).getByRole("listitem");
      await workers.nth(0).getByText("written").waitFor();
      await workers.nth(1).getByText("receiving").waitFor();
      expect(await violations(page)).toEqual([]);
      const look = await page.waitForRequest(/\/logdir/);
      await look.response();
      await page.getByRole("heading", { name: "No profiles yet" }).waitFor();
      slow.release();
      await dialog.getByText(/^Captured .*: 2 of 3 workers$/).waitFor();
      await workers.nth(0).getByText("nothing listens on this port").waitFor();
      await expect.poll(() => dialog.getByRole("progressbar").count()).toBe(0);
      await dialog.getByRole("button", { name: "Open run" }).click();
      await page.locator(".tiles .tile").first().waitFor();
      await page.locator(".bar").getByText("all 2").waitFor();
    } finally {
      slow.stop();
      jax.kill("SIGKILL");
      await own.stop();
      empty.remove();
    }
  },
);

test.skipIf(PYTHON === "")("from an empty TensorBoard to the overview of a program", async () => {
  const empty = temporaryFolder();
  const [board] = await Promise.all([tensorBoard(empty.path), program]);
  try {
    const { page } = await open(`${board.url}#profile`);
    const frame = page.frameLocator("iframe").first();
    await frame.getByRole("heading", { name: "No profiles yet" }).waitFor();
    const dialog = await openDialog(frame);
    await dialog.getByLabel("Profile service URLs or TPU names").fill(`localhost:${PORT}`);
    await dialog.getByRole("button", { name: "Test connection" }).click();
    await dialog.getByText("✓ profiler").waitFor();
    await dialog.getByRole("button", { name: "Capture", exact: true }).click();
    await frame.locator(".tiles .tile").first().waitFor();
    await expect
      .poll(() => frame.getByRole("heading", { level: 1 }).textContent())
      .toBe("Overview");
    await expect.poll(() => page.url()).toMatch(/run=|p\.profile/);
    // The next time the address is there already.
    await frame.getByRole("button", { name: "Capture profile" }).first().click();
    await dialog.getByRole("button", { name: "Capture again" }).click();
    await expect
      .poll(() => dialog.getByLabel("Profile service URLs or TPU names").inputValue())
      .toBe(`localhost:${PORT}`);
  } finally {
    await board.stop();
    empty.remove();
  }
});
