/** Pages in a real browser that may talk to the server under test and to nobody else. */
import { existsSync } from "node:fs";
import {
  type Browser,
  type ConsoleMessage,
  chromium,
  type Locator,
  type Page,
  type Request,
} from "playwright-core";
import { vi } from "vitest";
import { watchWork } from "./watched_work";

const CANDIDATES = [
  process.env.TBPROF_CHROMIUM,
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** For what needs room: more rows, or more pixels between events. */
export const LARGE = { width: 1600, height: 1000 };
let launched: Promise<Browser> | undefined;

/** The browser of this worker, without a network of its own; it ends with the worker. */
function launch(): Promise<Browser> {
  launched ??= launchOnce();
  return launched;
}

function launchOnce(): Promise<Browser> {
  const executablePath = CANDIDATES.find((path) => path && existsSync(path));
  if (!executablePath) throw new Error("no Chromium: set TBPROF_CHROMIUM, or run `make test`");
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      // It ends what draws where that takes long, as it may on a busy machine.
      "--disable-gpu-watchdog",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // Pages reach the servers under test and nobody else, however they ask.
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    ],
  });
}

export interface Opened {
  readonly page: Page;
  /** Console errors, policy violations, failed and foreign requests; a test ends with none. */
  readonly problems: string[];
  /** Bytes that the server sent, compressed as they came: for the pages' own files, or others. */
  readonly received: (address?: RegExp) => Promise<number>;
}

export interface OpenOptions {
  /** Small, unless the test is about size: drawing is a good part of the work. */
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** Runs in the page before its own scripts; it cannot refer to anything around it. */
  readonly first?: () => void;
  /** Nobody has used its browser context: no file is cached, nothing is granted or emulated. */
  readonly isFresh?: boolean;
  /** Problems that the test brings about, and that are none. */
  readonly forgives?: RegExp;
}

const OWN_FILES = /\.(html|js|css|svg|json)(\?|$)/;

/** A page with all that has to be undone before another test may have it. */
interface Lease {
  readonly page: Page;
  readonly isFresh: boolean;
  readonly cleanups: (() => unknown)[];
}

/**
 * Pages that wait for the next test, blank. A page in a new context takes twice the processor time
 * until it is drawn: for its process, and for scripts that are compiled again.
 */
const free: Page[] = [];
const leases = new Map<Page, Lease>();

/** Opens `url`; requests to other servers fail and count as problems. */
export async function open(url: string, options: OpenOptions = {}): Promise<Opened> {
  const { width = 1280, height = 720, dark = false, first, isFresh = false, forgives } = options;
  const page = (isFresh ? undefined : free.pop()) ?? (await newPage());
  const lease: Lease = { page, isFresh, cleanups: [] };
  leases.set(page, lease);
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
  const problems: string[] = [];
  const finished: Request[] = [];
  const origin = new URL(url).origin;
  // Noted, not intercepted: to send each request here and back takes a tenth of the time.
  const onRequest = (request: Request) => {
    const target = request.url();
    if (target.startsWith(origin) || /^(data|blob|about):/.test(target)) return;
    problems.push(`request to another server: ${target}`);
  };
  const onConsole = (message: ConsoleMessage) => {
    if (message.type() === "error" && !forgives?.test(message.text()))
      problems.push(message.text());
  };
  const onError = (error: Error) => {
    problems.push(String(error));
  };
  const onFinished = (request: Request) => {
    finished.push(request);
  };
  page.on("request", onRequest);
  page.on("console", onConsole);
  page.on("pageerror", onError);
  page.on("requestfinished", onFinished);
  lease.cleanups.push(() => {
    page.off("request", onRequest);
    page.off("console", onConsole);
    page.off("pageerror", onError);
    page.off("requestfinished", onFinished);
  });
  if (first) {
    const script = await page.addInitScript(first);
    lease.cleanups.push(() => script.dispose());
  }
  await page.goto(url);
  const received = async (address = OWN_FILES) => {
    const sizes = finished.filter((one) => address.test(one.url())).map((one) => one.sizes());
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size.responseBodySize, 0);
  };
  return { page, problems, received };
}

async function newPage(): Promise<Page> {
  const context = await (await launch()).newContext({ acceptDownloads: true });
  context.setDefaultTimeout(240_000);
  await context.addInitScript(watchWork);
  return context.newPage();
}

/** Ends the use of a page, which a later test may have; what it has stored is forgotten. */
export async function release(page: Page): Promise<void> {
  const lease = leases.get(page);
  leases.delete(page);
  if (lease === undefined || lease.isFresh) return page.context().close();
  try {
    for (const cleanup of lease.cleanups) await cleanup();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.evaluate(() => {
      if (location.origin === "null") return;
      localStorage.clear();
      sessionStorage.clear();
    });
    await page.goto("about:blank");
    await page.mouse.move(0, 0);
    free.push(page);
  } catch {
    // It is in no state for another test: that has a new one.
    await page.context().close();
  }
}

/** Ends the use of all pages; those of a test that has failed are not used again. */
export async function releaseAll(hasFailed: boolean): Promise<void> {
  const pages = [...leases.keys()];
  if (hasFailed) leases.clear();
  await Promise.all(pages.map(release));
}

/**
 * Milliseconds of processor time that the page's main thread takes for what `act` does, whatever
 * else the machine is busy with.
 */
export async function workOf(page: Page, act: () => Promise<unknown>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const work = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")!.value * 1000;
  };
  const before = await work();
  await act();
  return (await work()) - before;
}

/** The same of a page that is loaded again, until it is `ready`. */
export function workOfReload(page: Page, ready: (page: Page) => Promise<unknown>) {
  return workOf(page, async () => {
    await page.reload();
    await ready(page);
  });
}

/** Returns once the page has answered all that was done to it, and its address says so. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(() => window.whenIdle?.());
}

/** What a page shows follows what is done to it: a check of several parts is made until it holds. */
export function eventually(check: () => Promise<unknown>): Promise<unknown> {
  return vi.waitFor(check, { timeout: 240_000, interval: 50 });
}

/** Clicks a place within an element, as parts of its size, once the element stays where it is. */
export async function clickIn(element: Locator, across: number, down = 0.5): Promise<void> {
  const { width, height } = (await element.boundingBox())!;
  await element.click({ position: { x: across * width, y: down * height } });
}

/** The color of a custom property in the page's theme, as in `pixels`: "186,45,62". */
export function colorOf(page: Page, property: string): Promise<string> {
  return page.evaluate((name) => {
    const probe = document.body.appendChild(document.createElement("span"));
    probe.style.color = `var(${name})`;
    const pen = document.createElement("canvas").getContext("2d")!;
    pen.fillStyle = getComputedStyle(probe).color;
    probe.remove();
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)].join();
  }, property);
}

/**
 * How many opaque pixels of each color a canvas has, in the order in which they come from the top;
 * with `x` only those of one column, in CSS pixels from the left edge of the canvas.
 */
export async function pixels(canvas: Locator, x?: number): Promise<Map<string, number>> {
  const counts = await canvas.evaluate((element, at) => {
    const { width, height, clientWidth } = element as HTMLCanvasElement;
    const pen = (element as HTMLCanvasElement).getContext("2d")!;
    const left = at === null ? 0 : Math.round((at * width) / clientWidth);
    const { data } = pen.getImageData(left, 0, at === null ? width : 1, height);
    const found = new Map<string, number>();
    for (let byte = 0; byte < data.length; byte += 4) {
      if (data[byte + 3] < 255) continue;
      const color = `${data[byte]},${data[byte + 1]},${data[byte + 2]}`;
      found.set(color, (found.get(color) ?? 0) + 1);
    }
    return [...found];
  }, x ?? null);
  return new Map(counts);
}

export async function textOf(locator: Locator): Promise<string> {
  return (await locator.textContent()) ?? "";
}
