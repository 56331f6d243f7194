/**
 * Milliseconds from opening a page to its data on screen, a line each:
 *
 *     node e2e/timings/page_time.mjs URL…
 *
 * Every page is opened in a browser of its own, with nothing cached.
 */
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const executablePath = [process.env.TBPROF_CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"]
  .filter(Boolean)
  .find((path) => existsSync(path));

// What is drawn once a tool's answer is there: figures, a chart, or rows of a table.
const COMPLETE = ":is(.tile, canvas, .graph-node, [role=treegrid] [role=gridcell])";

for (const url of process.argv.slice(2)) {
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu"],
  });
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
  const begin = performance.now();
  await page.goto(url);
  await page.locator(COMPLETE).first().waitFor({ timeout: 120_000 });
  console.log((performance.now() - begin).toFixed(0));
  await browser.close();
}
