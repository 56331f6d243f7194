/** Real servers under test, each a process of its own on a port that the system chooses. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "../..");
export const SAMPLES = join(ROOT, "examples/logdir");
const PYTHON = process.env.TBPROF_PYTHON ?? "python";

/** The folder of traces from real accelerators; "" where this machine has none. */
export const TRACES = (() => {
  const folder = process.env.TBPROF_TRACES ?? join(ROOT, "../shared/traces");
  return existsSync(folder) ? folder : "";
})();

export interface Server {
  /** Ends with a slash. */
  readonly url: string;
  /** The address of our pages. */
  readonly page: string;
  stop(): Promise<void>;
}

/** A temporary folder that goes with `remove`. */
export function temporaryFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "tbprof-e2e-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A run directory's trace files, written by e2e/make_traces.py. */
export function makeTraces(kind: string, logdir: string): void {
  execFileSync(PYTHON, [join(import.meta.dirname, "make_traces.py"), kind, logdir], { cwd: ROOT });
}

/** `tbprof serve` on a logdir. */
export async function serve(logdir: string, cache?: string): Promise<Server> {
  const child = spawn(PYTHON, ["-m", "tbprof.cli", "serve", logdir, "--port", "0"], {
    cwd: ROOT,
    env: cache ? { ...process.env, TBPROF_CACHE_DIR: cache } : process.env,
  });
  const url = await addressIn(child, /tbprof is at (http:\S+)/);
  return server(child, url);
}

/** TensorBoard itself on a logdir, with tbprof installed. */
export async function tensorBoard(logdir: string): Promise<Server> {
  const port = await freePort();
  const child = spawn(
    PYTHON,
    ["-m", "tensorboard.main", "--logdir", logdir, "--host", "127.0.0.1", "--port", String(port)],
    { cwd: ROOT },
  );
  const url = await addressIn(child, /(http:\/\/127\.0\.0\.1:\d+\/)/);
  return server(child, url);
}

function server(child: ChildProcess, url: string): Server {
  const stop = () =>
    new Promise<void>((done) => {
      if (child.exitCode !== null) return done();
      child.once("exit", () => done());
      child.kill("SIGTERM");
      setTimeout(() => child.kill("SIGKILL"), 10_000).unref();
    });
  return { url, page: `${url}data/plugin/profile/index.html`, stop };
}

function addressIn(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((found, failed) => {
    let said = "";
    const listen = (chunk: Buffer) => {
      said += chunk.toString();
      const match = pattern.exec(said);
      if (match?.[1]) found(match[1]);
    };
    child.stdout?.on("data", listen);
    child.stderr?.on("data", listen);
    child.once("exit", (code) => failed(new Error(`the server ended (${code}): ${said}`)));
    setTimeout(() => failed(new Error(`no address in: ${said}`)), 60_000).unref();
  });
}

function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const probe = createServer();
    probe.once("error", failed);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address ? address.port : 0;
      probe.close(() => found(port));
    });
  });
}
