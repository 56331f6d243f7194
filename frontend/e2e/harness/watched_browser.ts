/** Pages for the tests of a file, in the one browser of its worker; each test ends with none open. */
import { afterEach, expect } from "vitest";
import { type Opened, type OpenOptions, open, releaseAll } from "./browser";

export type { OpenOptions };

/** Opens an address in a page of its own, as soon as it is there. */
export type OpenAddress = (address: string, options?: OpenOptions) => Promise<Opened>;

/** Pages whose problems the test looks at itself. */
export function ownPages(): OpenAddress {
  afterEach(({ task }) => releaseAll(task.result?.state === "fail"));

  return open;
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
