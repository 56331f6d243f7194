/** Pages in a real browser that may talk to the server under test and to nobody else. */
import { existsSync } from "node:fs";
import axe from "axe-core";
import { type Browser, chromium, type Frame, type Page } from "playwright-core";

const CANDIDATES = [
  process.env.TBPROF_CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

export const SIZES = [
  { width: 1600, height: 1000 },
  { width: 1280, height: 720 },
] as const;

/** A browser without a network of its own. */
export function launch(): Promise<Browser> {
  const executablePath = CANDIDATES.find((path) => path && existsSync(path));
  if (!executablePath) throw new Error("no Chromium: set TBPROF_CHROMIUM, or run `make test`");
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

export interface Opened {
  readonly page: Page;
  /** Console errors, policy violations, failed and foreign requests; a test ends with none. */
  readonly problems: string[];
  /** Bytes that the server sent for the pages' own files, compressed as they came. */
  readonly received: () => Promise<number>;
}

interface Options {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
}

/** Opens `url`; requests to other servers are refused and count as problems. */
export async function open(browser: Browser, url: string, options: Options = {}): Promise<Opened> {
  const { width = 1600, height = 1000, dark = false } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    acceptDownloads: true,
  });
  const page = await context.newPage();
  const problems: string[] = [];
  const origin = new URL(url).origin;
  await page.route("**/*", (route) => {
    const target = route.request().url();
    if (target.startsWith(origin) || /^(data|blob):/.test(target)) return route.continue();
    problems.push(`request to another server: ${target}`);
    return route.abort();
  });
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  const sizes: Promise<number>[] = [];
  page.on("requestfinished", (request) => {
    if (/\.(html|js|css|svg|json)(\?|$)/.test(request.url())) {
      sizes.push(request.sizes().then((size) => size.responseBodySize));
    }
  });
  await page.goto(url);
  const received = async () => (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  return { page, problems, received };
}

/** The serious accessibility violations of a page, as "rule: how many elements". */
export async function violations(page: Page | Frame): Promise<string[]> {
  // Injected through the debugger, which the page's policy does not bind.
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    type Axe = {
      run: () => Promise<{ violations: { id: string; impact: string; nodes: unknown[] }[] }>;
    };
    return (await (window as unknown as { axe: Axe }).axe.run()).violations;
  });
  return found
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map((one) => `${one.id}: ${one.nodes.length}`);
}

/** Whether anything sticks out of the window sideways. */
export function overflowsSideways(page: Page): Promise<boolean> {
  return page.evaluate(
    () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
  );
}
