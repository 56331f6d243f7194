import { chromium } from "playwright-core";
const [,, out, ...specs] = process.argv;
const b = await chromium.launch({ executablePath: "/usr/bin/chromium-headless-shell" });
for (const spec of specs) {
  const [name, port, hash, size="1600x1000", dark="light", ...acts] = spec.split("|");
  const [width,height]=size.split("x").map(Number);
  const p = await b.newPage({ viewport:{width,height}, colorScheme: dark });
  p.on("pageerror", e=>console.log(name,"ERR",e.message));
  await p.goto(`http://127.0.0.1:${port}/#${hash}`);
  await p.waitForTimeout(2500);
  for (const a of acts) { try { await eval(`(async()=>{${a}})()`);} catch(e){console.log(name,"ACT",e.message.slice(0,300));} await p.waitForTimeout(700); }
  await p.screenshot({ path: `${out}/${name}.png` });
  await p.close();
}
await b.close();
