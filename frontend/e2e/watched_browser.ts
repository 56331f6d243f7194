/** Pages for the tests of a file, in the one browser of its worker; each test ends with none open. */
import type { Browser } from "playwright-core";
import { afterEach, beforeAll, expect } from "vitest";
import { launch, type Opened, open } from "./browser";

export type OpenOptions = NonNullable<Parameters<typeof open>[2]>;

/** Opens an address in a page of its own, as soon as it is there. */
export type OpenAddress = (address: string, options?: OpenOptions) => Promise<Opened>;

/** Pages whose problems the test looks at itself. */
export function ownPages(): OpenAddress {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launch();
  });
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
  });

  return (address, options = {}) => open(browser, address, options);
}

/** Pages of which none may have problems. */
export function watchedBrowser(): OpenAddress {
  const problems: string[][] = [];
  afterEach(() => expect(problems.splice(0).flat()).toEqual([]));
  // Pages are closed before: hooks run from the last one to the first.
  const openPage = ownPages();

  return async (address, options = {}) => {
    const opened = await openPage(address, options);
    problems.push(opened.problems);
    return opened;
  };
}
