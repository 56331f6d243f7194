/** Pages in a real browser that may talk to the server under test and to nobody else. */
import { existsSync } from "node:fs";
import axe from "axe-core";
import {
  type Browser,
  type ConsoleMessage,
  chromium,
  type Frame,
  type Locator,
  type Page,
  type Request,
} from "playwright-core";
import { expect, vi } from "vitest";
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
/** How pages are looked at: a theme changes colours alone, whatever the size. */
export const LOOKS = [
  { ...LARGE, dark: false },
  { width: 1280, height: 720, dark: true },
] as const;

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

/** Rules that are about colours alone. */
const OF_COLORS = ["color-contrast", "link-in-text-block"];
/** Rules that a dark look may break, or its smaller window: see LOOKS. */
const OF_DARK = [...OF_COLORS, "scrollable-region-focusable"];
/** Rules that never find anything serious, and take a third of the time. */
const SLIGHT = ["region", "scope-attr-valid", "hidden-content"];

/** The serious accessibility violations of a page, by some rules or all: "rule: how many elements". */
export async function violations(page: Page | Frame, rules?: readonly string[]): Promise<string[]> {
  // Injected through the debugger, which the page's policy does not bind.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  const found = await page.evaluate(
    async ([values, slight]) => {
      type Axe = {
        run: (options: object) => Promise<{
          violations: { id: string; impact: string; nodes: unknown[] }[];
        }>;
      };
      const options = {
        ...(values && { runOnly: { type: "rule", values } }),
        rules: Object.fromEntries(slight.map((rule) => [rule, { enabled: false }])),
        // Style sheets are fetched again for rules on orientation and sound alone.
        preload: false,
        // No more than is returned: half of the time went to lists of what holds.
        resultTypes: ["violations"],
        elementRef: false,
        selectors: false,
      };
      return (await (window as unknown as { axe: Axe }).axe.run(options)).violations;
    },
    [rules, SLIGHT] as const,
  );
  return found
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map((one) => `${one.id}: ${one.nodes.length}`);
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

/** Returns once the page has answered all that was done to it, and its address says so. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(() => window.whenIdle?.());
}

/** What a page shows follows what is done to it: a check of several parts is made until it holds. */
export function eventually(check: () => Promise<unknown>): Promise<unknown> {
  return vi.waitFor(check, { timeout: 120_000, interval: 50 });
}

/** Clicks a place within an element, as parts of its size, once the element stays where it is. */
export async function clickIn(element: Locator, across: number, down = 0.5): Promise<void> {
  const { width, height } = (await element.boundingBox())!;
  await element.click({ position: { x: across * width, y: down * height } });
}

/** Whether anything sticks out of the window sideways. */
export function overflowsSideways(page: Page): Promise<boolean> {
  return page.evaluate(
    () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
  );
}

/** Texts that are cut off without a title that tells them whole, and numbers that are none. */
export function brokenTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    while (walker.nextNode()) {
      const text = walker.currentNode.textContent?.trim() ?? "";
      const parent = walker.currentNode.parentElement;
      if (text === "" || !parent || parent.closest(".unseen, script, style")) continue;
      if (/\b(NaN|undefined|Infinity)\b|\[object /.test(text)) found.push(`no number: ${text}`);
      range.selectNodeContents(walker.currentNode);
      const { left, right, top, bottom, width } = range.getBoundingClientRect();
      if (width === 0) continue;
      for (
        let box: Element | null = parent;
        box && box !== document.body;
        box = box.parentElement
      ) {
        const { overflowX, overflowY } = getComputedStyle(box);
        // What scrolls is within reach; beyond it nothing is cut that could not be scrolled to.
        if (/auto|scroll/.test(overflowX + overflowY)) break;
        const edge = box.getBoundingClientRect();
        const isCutWide =
          overflowX !== "visible" && (right > edge.right + 1 || left < edge.left - 1);
        const isCutHigh =
          overflowY !== "visible" && (bottom > edge.bottom + 2 || top < edge.top - 2);
        if (!isCutWide && !isCutHigh) continue;
        if (!parent.closest("[title]")) found.push(`cut off: ${text.slice(0, 80)}`);
        break;
      }
    }
    return found;
  });
}

/** Names that are cut in their middle with a blank between "…" and what follows. */
export function gapsInNames(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>(".name")].flatMap((name) => {
      const [head, tail] = [name.querySelector(".name-head"), name.querySelector("bdi")];
      if (!head || !tail) return [];
      const letter = tail.getBoundingClientRect().width / (tail.textContent ?? "").length;
      // A head that lies below is not seen.
      const isSeen = head.getBoundingClientRect().top < name.getBoundingClientRect().bottom - 1;
      const isCut = isSeen && head.scrollWidth > head.clientWidth;
      const blank = head.getBoundingClientRect().width % letter;
      return isCut && blank > 1 && blank < letter - 0.1 ? [`${blank} px: ${name.title}`] : [];
    }),
  );
}

/** Texts that lie over others, by a few pixels at least; what covers others on purpose may. */
export function overlappingTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const boxes: { text: string; parent: Element; rect: DOMRect }[] = [];
    while (walker.nextNode()) {
      const text = walker.currentNode.textContent?.trim() ?? "";
      const parent = walker.currentNode.parentElement;
      if (text === "" || !parent?.checkVisibility({ opacityProperty: true })) continue;
      if (parent.closest(".unseen, script, style")) continue;
      range.selectNodeContents(walker.currentNode);
      for (const rect of range.getClientRects()) {
        const clipped = visiblePart(rect, parent);
        if (clipped.width > 3 && clipped.height > 4) boxes.push({ text, parent, rect: clipped });
      }
    }
    const found = new Set<string>();
    boxes.sort((a, b) => a.rect.top - b.rect.top);
    boxes.forEach((upper, index) => {
      for (const lower of boxes.slice(index + 1)) {
        if (lower.rect.top >= upper.rect.bottom - 4) break;
        const across =
          Math.min(upper.rect.right, lower.rect.right) - Math.max(upper.rect.left, lower.rect.left);
        if (across <= 3 || isCover(upper.parent, lower.parent)) continue;
        if (isCover(lower.parent, upper.parent) || upper.parent === lower.parent) continue;
        found.add(`"${upper.text.slice(0, 40)}" over "${lower.text.slice(0, 40)}"`);
      }
    });
    return [...found];

    function visiblePart(rect: DOMRect, element: Element): DOMRect {
      let { left, right, top, bottom } = rect;
      for (let box: Element | null = element; box; box = box.parentElement) {
        const { overflowX, overflowY } = getComputedStyle(box);
        if (overflowX === "visible" && overflowY === "visible") continue;
        const edge = box.getBoundingClientRect();
        [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
        [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
      }
      return new DOMRect(left, top, Math.max(right - left, 0), Math.max(bottom - top, 0));
    }

    /** Whether something opaque that is laid above the flow holds `element` and not `other`. */
    function isCover(element: Element, other: Element): boolean {
      for (let box: Element | null = element; box; box = box.parentElement) {
        if (box.contains(other)) return false;
        const { position, backgroundColor } = getComputedStyle(box);
        if (/sticky|fixed|absolute/.test(position) && !/, 0\)|transparent/.test(backgroundColor))
          return true;
      }
      return false;
    }
  });
}

/**
 * Nothing is wrong with the looks of a page, of which `of` says which it is. A dark page is one of
 * the light ones in other colours: of rules, those on colours are asked again.
 */
export async function expectGoodLooks(page: Page, of = ""): Promise<void> {
  await settled(page);
  await eventually(async () => expect(await faults(page), of).toEqual([]));
}

/** What is wrong with the looks of a page: sticks out, cannot be read, is cut off. */
async function faults(page: Page): Promise<string[]> {
  const isDark = await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches);
  return [
    ...((await overflowsSideways(page)) ? ["sticks out sideways"] : []),
    ...(await brokenTexts(page)),
    ...(await violations(page, isDark ? OF_DARK : undefined)),
  ];
}

/** The same, light and dark: the themes differ in their colours alone. */
export async function expectGoodThemes(page: Page): Promise<void> {
  await expectGoodLooks(page);
  await page.emulateMedia({ colorScheme: "dark" });
  await eventually(async () => expect(await violations(page, OF_COLORS), "dark").toEqual([]));
  await page.emulateMedia({ colorScheme: "light" });
}

/** The colour of a custom property in the page's theme, as in `pixels`: "186,45,62". */
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
 * How many opaque pixels of each colour a canvas has, in the order in which they come from the top;
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
