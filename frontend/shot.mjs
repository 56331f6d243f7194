import { chromium } from "playwright-core";
const [,, base, out, theme, w, h, ...pages] = process.argv;
const b = await chromium.launch({ executablePath: "/usr/bin/chromium-headless-shell" });
const c = await b.newContext({ viewport: { width: +w, height: +h }, colorScheme: theme });
for (const p of pages) {
  const page = await c.newPage();
  page.on("console", m => { if (m.type()==="error") console.log(p, m.text()); });
  await page.goto(`${base}/#${p}`);
  await page.waitForLoadState("networkidle");
  await page.waitForTimeout(900);
  await page.screenshot({ path: `${out}/${p.replace(/[^a-z0-9_]+/gi,"-")}-${theme}-${w}.png` });
  await page.close();
}
await b.close();
