import { chromium } from "playwright-core";
const base = process.env.BASE ?? "http://localhost:6010/";
const b = await chromium.launch({ executablePath: "/usr/bin/chromium-headless-shell" });
for (const spec of process.argv.slice(2)) {
  const [run, tool, w, h, dark] = spec.split(",");
  const page = await b.newPage({ viewport: { width: +w, height: +h }, colorScheme: dark ? "dark" : "light" });
  await page.goto(`${base}#${new URLSearchParams({ run, tool })}`);
  await page.locator("main h1, .trace-status").first().waitFor();
  await page.waitForTimeout(1500);
  await page.screenshot({ path: `/tmp/shots/${run}-${tool}-${w}${dark ? "-dark" : ""}.png` });
  await page.close();
}
await b.close();
