/** Pages of one tool for the tests of a file: opened, and closed without problems. */
import type { Page } from "playwright-core";
import type { Opened } from "./browser";
import { addressOf, ask, type Table } from "./servers";
import { server } from "./shared_server";
import { type OpenOptions, watchedBrowser } from "./watched_browser";

type View = Readonly<Record<string, string>>;

export interface ToolRuns {
  /** The page of a run, as soon as it is there; a test ends without problems in any. */
  readonly open: (run: string, view?: View, options?: OpenOptions) => Promise<Opened>;
  /** The same once it shows what its address asks for. */
  readonly show: (run: string, view?: View, options?: OpenOptions) => Promise<Page>;
  /** What the server answers for a run. */
  readonly answer: <T = Table[]>(run: string, parameters?: View) => Promise<T>;
}

/** `ready` waits until a page is complete. */
export function toolRuns(tool: string, ready: (page: Page) => Promise<unknown>): ToolRuns {
  const open = watchedBrowser();

  const openRun: ToolRuns["open"] = (run, view = {}, options = {}) =>
    open(addressOf(server, run, tool, view), options);
  return {
    open: openRun,
    show: async (run, view, options) => {
      const { page } = await openRun(run, view, options);
      await ready(page);
      return page;
    },
    answer: (run, parameters = {}) => ask(server, run, tool, parameters),
  };
}
