/**
 * Milliseconds from a click on "Capture" to the new run's overview on screen, for a capture of one
 * second, a line each:
 *
 *     node e2e/timings/capture_time.mjs PAGE ADDRESS TIMES
 *
 * The first click comes as soon as the page is there.
 */
import { launch, newPage } from "./browser.mjs";

const [page_, address, times] = process.argv.slice(2);

const browser = await launch();
const page = await newPage(browser);
await page.goto(page_);
for (let time = 0; time < Number(times); time++) {
  await page.locator(".bar").getByRole("button", { name: "Capture profile" }).click();
  const dialog = page.getByRole("dialog", { name: "Capture profile" });
  const again = dialog.getByRole("button", { name: "Capture again" });
  if (time > 0) await again.click();
  await dialog.getByLabel("Profile service URLs or TPU names").fill(address);
  const before = new URL(page.url()).hash;
  const begin = performance.now();
  await dialog.getByRole("button", { name: "Capture", exact: true }).click();
  await page.waitForFunction(
    (hash) => location.hash !== hash && location.hash.includes("overview_page"),
    before,
    { timeout: 120_000 },
  );
  await page.locator(".tile").first().waitFor({ timeout: 120_000 });
  console.log((performance.now() - begin).toFixed(0));
}
await browser.close();
