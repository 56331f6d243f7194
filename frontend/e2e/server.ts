/** A real server over sample traces, and a real browser that reports everything it complains of. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";

const ROOT = join(import.meta.dirname, "../..");
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export interface Site {
  readonly address: string;
  /** A page at `hash`, of which nothing but the site may be asked. */
  readonly open: (hash: string, options?: { width?: number; isDark?: boolean }) => Promise<Page>;
  /** Requests to others, console errors, policy violations and exceptions so far. */
  readonly complaints: readonly string[];
  readonly close: () => Promise<void>;
}

/** Needs `tbprof` and its Python on the PATH, and Chromium (CHROMIUM names another one). */
export async function startSite(): Promise<Site> {
  if (!existsSync(join(ROOT, "tbprof/static/index.html")))
    throw new Error("run 'npm run build' first");
  const logdir = mkdtempSync(join(tmpdir(), "tbprof-e2e-"));
  cpSync(join(ROOT, "examples/logdir"), logdir, { recursive: true });
  execFileSync(
    "python",
    [join(import.meta.dirname, "make_gpu_run.py"), join(logdir, "plugins/profile/gpu")],
    { cwd: ROOT, env: { ...process.env, PYTHONPATH: ROOT } },
  );
  const server = spawn("tbprof", ["serve", logdir, "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const address = await announced(server);
  const browser: Browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: FLAGS,
  });
  const complaints: string[] = [];
  return {
    address,
    complaints,
    open: async (hash, { width = 1280, isDark = false } = {}) => {
      const context = await browser.newContext({
        viewport: { width, height: 800 },
        colorScheme: isDark ? "dark" : "light",
      });
      const page = await context.newPage();
      watch(page, address, complaints);
      await page.goto(`${address}data/plugin/profile/index.html${hash}`);
      return page;
    },
    close: async () => {
      await browser.close();
      server.kill();
      rmSync(logdir, { recursive: true, force: true });
    },
  };
}

/** What axe finds serious or critical, as text. */
export async function findBarriers(page: Page): Promise<string[]> {
  const path = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
  await page.evaluate((await import("node:fs")).readFileSync(path, "utf8"));
  return page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: axe defines itself on the window
    const { violations } = await (window as any).axe.run(document);
    return violations
      .filter((found: { impact: string }) => ["serious", "critical"].includes(found.impact))
      .map(
        (found: { id: string; nodes: { html: string }[] }) => `${found.id}: ${found.nodes[0].html}`,
      );
  });
}

function watch(page: Page, address: string, complaints: string[]): void {
  void page.route("**/*", (route) => {
    const url = route.request().url();
    if (url.startsWith(address) || /^(data|blob):/.test(url)) return route.continue();
    complaints.push(`asked for ${url}`);
    return route.abort();
  });
  page.on("pageerror", (error) => complaints.push(`exception: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`console: ${message.text()}`);
  });
}

function announced(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    server.stdout?.on("data", (chunk) => {
      output += chunk;
      const address = /http:\/\/\S+/.exec(output)?.[0];
      if (address) resolve(address);
    });
    server.on("exit", (code) => reject(new Error(`tbprof serve ended with ${code}: ${output}`)));
    server.on("error", reject);
  });
}
