/** Runs for the tests of the trace viewer: opened, and closed without problems. */
import { addressOf } from "../harness/servers";
import { server } from "../harness/shared_server";
import { type OpenAddress, type OpenOptions, watchedBrowser } from "../harness/watched_browser";

/** What an address holds beside the run and the tool. */
export type View = Readonly<Record<string, string>>;
export type { OpenOptions };

export interface Runs {
  /** The address of a page of a run, of the trace viewer if none is named. */
  readonly address: (run: string, view?: View, tool?: string) => string;
  /** An address in a page of its own, as soon as it is there; the hint at the keys has been seen. */
  readonly openAt: OpenAddress;
}

/** Runs that make_timeline_run.py draws, and "v100", "tpu" and "amd" where there are such. */
export function traceRuns(): Runs {
  const open = watchedBrowser();
  return {
    address: (run, view = {}, tool = "trace_viewer") => addressOf(server, run, tool, view),
    openAt: (address, options = {}) => {
      const first = () => localStorage.setItem("tbprof.trace.hint", "seen");
      return open(address, { first, ...options });
    },
  };
}
