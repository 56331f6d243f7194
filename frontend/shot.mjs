import { chromium } from 'playwright-core';
const [,, base, list, outdir, w='1600', h='1000', dark] = process.argv;
const b = await chromium.launch({executablePath:'/usr/bin/chromium-headless-shell', args:['--no-sandbox']});
const c = await b.newContext({viewport:{width:+w,height:+h}, colorScheme: dark?'dark':'light'});
for (const item of list.split(',')) {
  const [run, tool, extra=''] = item.split(':');
  const p = await c.newPage();
  p.on('pageerror', e => console.log('ERR', run, tool, e.message));
  p.on('console', m => { if (m.type()==='error') console.log('CON', run, tool, m.text()); });
  await p.goto(`${base}/#run=${run}&tool=${tool}${extra}`);
  await p.waitForTimeout(3500);
  await p.screenshot({path:`${outdir}/${run}-${tool}-${w}${dark?'d':''}.png`, fullPage:true});
  await p.close();
}
await b.close();
