import { chromium } from "playwright-core";
const base = "http://localhost:6043/";
const b = await chromium.launch({ executablePath: "/usr/bin/chromium-headless-shell" });
for (const spec of process.argv.slice(2)) {
  const [name, query, w, h] = spec.split("|");
  const page = await b.newPage({ viewport: { width: +(w ?? 1600), height: +(h ?? 1000) } });
  await page.goto(`${base}#${query}`);
  await page.locator("main h1, .trace-status").first().waitFor();
  await page.waitForTimeout(2500);
  await page.screenshot({ path: `/tmp/shots/find-${name}.png` });
  await page.close();
}
await b.close();
