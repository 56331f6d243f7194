/**
 * Milliseconds from opening a page to its data on screen, a line each:
 *
 *     node e2e/timings/page_time.mjs URL…
 *
 * Every page is opened in a browser of its own, with nothing cached.
 */
import { launch, newPage } from "./browser.mjs";

// What is drawn once a tool's answer is there: figures, a chart, or rows of a table.
const COMPLETE = ":is(.tile, canvas, .graph-node, [role=treegrid] [role=gridcell])";

for (const url of process.argv.slice(2)) {
  const browser = await launch();
  const page = await newPage(browser);
  const begin = performance.now();
  await page.goto(url);
  await page.locator(COMPLETE).first().waitFor({ timeout: 120_000 });
  console.log((performance.now() - begin).toFixed(0));
  await browser.close();
}
