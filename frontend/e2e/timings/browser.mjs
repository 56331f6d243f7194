/** What all timings share: the browser, its pages, and how times are told. */
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const executablePath = [process.env.TBPROF_CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"]
  .filter(Boolean)
  .find((path) => existsSync(path));

/** Makes frames wait for no display. */
export const FREE = ["--disable-frame-rate-limit", "--disable-gpu-vsync"];

/** A browser that draws in software. */
export function launch(options = []) {
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", ...options] });
}

export function newPage(browser) {
  return browser.newPage({ viewport: { width: 1600, height: 1000 } });
}

export function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part) => Number(sorted[Math.floor(part * (sorted.length - 1))].toFixed(2));
  return { p50: at(0.5), p95: at(0.95), most: at(1) };
}
