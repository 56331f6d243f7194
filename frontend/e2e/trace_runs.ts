/** Runs for the tests of the trace viewer: drawn, served, opened, and closed without problems. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { addressOf, runScript, type Server, serve, TRACES, temporaryFolder } from "./servers";
import { type OpenAddress, type OpenOptions, watchedBrowser } from "./watched_browser";

/** What an address holds beside the run and the tool. */
export type View = Readonly<Record<string, string>>;
export type { OpenOptions };

export interface Runs {
  readonly server: Server;
  /** The address of a page of a run, of the trace viewer if none is named. */
  readonly address: (run: string, view?: View, tool?: string) => string;
  /** An address in a page of its own, as soon as it is there; the hint at the keys has been seen. */
  readonly openAt: OpenAddress;
}

const RECORDED = [
  ["v100", "gpu_tf_v100/plugins/profile/multi_worker"],
  ["tpu", "tpu_jax_v6e/plugins/profile/host_offload"],
  ["amd", "gpu_jax_mi350/plugins/profile/te_fused_attention"],
];

/**
 * Serves runs that make_timeline_run.py draws, and "v100", "tpu" and "amd" where there are such, to the
 * tests of a file. Each test ends with its pages closed and without problems.
 */
export function serveRuns(...kinds: string[]): Runs {
  const folder = temporaryFolder();
  let server: Server;

  beforeAll(async () => {
    runScript("make_timeline_run.py", folder.path, ...kinds);
    for (const [name, source] of TRACES ? RECORDED : []) {
      const run = join(folder.path, "plugins/profile", name);
      cpSync(join(TRACES, source), run, { recursive: true });
    }
    server = await serve(folder.path);
  });
  afterAll(async () => {
    await server?.stop();
    folder.remove();
  });
  const open = watchedBrowser();

  return {
    get server() {
      return server;
    },
    address: (run, view = {}, tool = "trace_viewer") => addressOf(server, run, tool, view),
    openAt: (address, options = {}) => {
      const first = () => localStorage.setItem("tbprof.trace.hint", "seen");
      return open(address, { first, ...options });
    },
  };
}
