/** Real servers under test, each a process of its own on a port that the system chooses. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "../../..");
export const SAMPLES = join(ROOT, "examples/logdir");
const PYTHON = process.env.TBPROF_PYTHON ?? "python";

/** The folder of traces from real accelerators; "" where this machine has none. */
export const TRACES = (() => {
  const folder = process.env.TBPROF_TRACES ?? join(ROOT, "../shared/traces");
  return existsSync(folder) ? folder : "";
})();

export interface Site {
  /** Ends with a slash. */
  readonly url: string;
  /** The address of our pages. */
  readonly page: string;
}

export interface Server extends Site {
  stop(): Promise<void>;
}

/** A temporary folder that goes with `remove`. */
export function temporaryFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "tbprof-e2e-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Runs a script of `runs/`, to which the traces that tests draw are known. */
export function runScript(script: string, ...options: string[]): void {
  execFileSync(PYTHON, [join(import.meta.dirname, "../runs", script), ...options], {
    cwd: ROOT,
    env: { ...process.env, PYTHONPATH: [ROOT, join(ROOT, "tests")].join(delimiter) },
  });
}

/** Runs of these names, see make_traces.py. */
export function makeTraces(logdir: string, ...runs: string[]): void {
  runScript("make_traces.py", logdir, ...runs);
}

/** Recorded runs: the samples, and "v100" and "tpu" where this machine has traces of those. */
export const RECORDED = [
  "jax_cpu_training",
  "tensorflow_cpu_training",
  ...(TRACES ? ["v100", "tpu"] : []),
];

/** The address of a page of a run; `view` is what the page keeps in it. */
export function addressOf(
  server: Site,
  run: string,
  tool: string,
  view: Readonly<Record<string, string>> = {},
): string {
  return `${server.page}#${new URLSearchParams({ run, tool, ...view })}`;
}

export type Value = string | number | boolean | null;

/** A table of a tool, column by column. */
export interface Table {
  readonly cols: readonly { readonly id: string }[];
  readonly columns: readonly (readonly Value[])[];
  readonly p?: Readonly<Record<string, string>>;
}

/** What the server answers when a page asks. */
export async function ask<T = Table[]>(
  server: Site,
  run: string,
  tag: string,
  more: Readonly<Record<string, string>> = {},
): Promise<T> {
  const query = new URLSearchParams({ run, tag, layout: "columns", ...more });
  const answer = await fetch(`${server.url}data/plugin/profile/data?${query}`);
  return (await answer.json()) as T;
}

export function column(table: Table | undefined, id: string): readonly Value[] {
  return table?.columns[table.cols.findIndex((col) => col.id === id)] ?? [];
}

/** The rows of a table as objects. */
export function rows(table: Table | undefined): Readonly<Record<string, Value>>[] {
  const { cols = [], columns = [] } = table ?? {};
  return (columns[0] ?? []).map((_, row) =>
    Object.fromEntries(cols.map(({ id }, index) => [id, columns[index]?.[row] ?? null])),
  );
}

/** `tbprof precompute` on a logdir: each file is read once, for all pages. */
export function precompute(logdir: string, cache: string): void {
  const options = { cwd: ROOT, env: environment(cache), stdio: "pipe" } as const;
  execFileSync(PYTHON, ["-m", "tbprof.cli", "precompute", logdir], options);
}

/** `tbprof serve` on a logdir. */
export function serve(logdir: string, cache?: string, ...options: string[]): Promise<Server> {
  return serveBy(["-m", "tbprof.cli"], logdir, cache, options);
}

/** The same, but for `parts` of a host: they are computed only once the file `gate` is there. */
export function serveHeld(logdir: string, cache: string, gate: string, parts: string[]) {
  const program = [join(import.meta.dirname, "held_server.py"), gate, parts.join()];
  return serveBy(program, logdir, cache, []);
}

async function serveBy(
  program: readonly string[],
  logdir: string,
  cache: string | undefined,
  options: readonly string[],
): Promise<Server> {
  const child = spawn(PYTHON, [...program, "serve", logdir, "--port", "0", ...options], {
    cwd: ROOT,
    env: environment(cache),
  });
  const url = await addressIn(child, /tbprof is at (http:\S+)/);
  return server(child, url);
}

function environment(cache: string | undefined): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PYTHONPATH: [ROOT, process.env.PYTHONPATH].join(delimiter),
    ...(cache && { TBPROF_CACHE_DIR: cache }),
  };
}

/** TensorBoard itself on a logdir, with tbprof installed. */
export async function tensorBoard(logdir: string): Promise<Server> {
  const child = spawn(
    PYTHON,
    ["-m", "tensorboard.main", "--logdir", logdir, "--host", "127.0.0.1", "--port", "0"],
    { cwd: ROOT },
  );
  const url = await addressIn(child, /(http:\/\/127\.0\.0\.1:[1-9]\d*\/)/);
  return server(child, url);
}

function server(child: ChildProcess, url: string): Server {
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const stop = () =>
    new Promise<void>((done) => {
      // A page says no more than that the server failed.
      if (errors.includes("Traceback")) process.stderr.write(errors);
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
    setTimeout(() => failed(new Error(`no address in: ${said}`)), 240_000).unref();
  });
}

/** A relay to a port of this machine; it keeps long answers back until they are released. */
export interface Relay {
  readonly port: number;
  release(): void;
  stop(): void;
}

/** Bytes of a connection that pass at once: those that set it up, and not those of a trace. */
const SHORT_BYTES = 4096;

export async function holdAnswers(port: number): Promise<Relay> {
  let isHolding = true;
  const held: (() => void)[] = [];
  const relay = createServer((client) => {
    const program = connect(port, "127.0.0.1");
    let passed = 0;
    client.pipe(program);
    program.on("data", (bytes) => {
      passed += bytes.length;
      if (isHolding && passed > SHORT_BYTES) held.push(() => client.write(bytes));
      else client.write(bytes);
    });
    program.on("close", () => client.destroy());
    client.on("close", () => program.destroy());
    for (const end of [client, program]) end.on("error", () => {});
  });
  await new Promise<void>((listening) => relay.listen(0, "127.0.0.1", listening));
  return {
    port: (relay.address() as AddressInfo).port,
    release: () => {
      isHolding = false;
      for (const pass of held.splice(0)) pass();
    },
    stop: () => relay.close(),
  };
}
