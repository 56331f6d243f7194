/** Before any test: one server of all runs that the tests look at, which stops with its files. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import {
  makeTraces,
  runScript,
  SAMPLES,
  type Site,
  serve,
  TRACES,
  temporaryFolder,
} from "./servers";

declare module "vitest" {
  interface ProvidedContext {
    site: Site;
  }
}

/** Their names among the runs, and where they are in the folder of traces. */
const REAL = [
  ["v100", "gpu_tf_v100/plugins/profile/multi_worker"],
  ["tpu", "tpu_jax_v6e/plugins/profile/host_offload"],
  ["amd", "gpu_jax_mi350/plugins/profile/te_fused_attention"],
];
/** As long as names get before they are cut. */
const LONG_NAME = "bert_pretraining_on_eight_gpus_with_mixed_precision";

export default async function serveAllRuns(project: TestProject): Promise<() => Promise<void>> {
  const { path, remove } = temporaryFolder();
  const folderOf = (run: string) => join(path, "plugins/profile", run);
  cpSync(SAMPLES, path, { recursive: true });
  for (const [name, source] of TRACES ? REAL : [])
    cpSync(join(TRACES, source), folderOf(name), { recursive: true });
  for (const script of ["steps", "timeline", "tf_data"]) runScript(`make_${script}_run.py`, path);
  const drawn = ["hostile_ops", "damaged_hosts", "no_trace", "many_ops", "no_files", "programs"];
  makeTraces(path, ...drawn, "programs_without_steps");
  runScript("make_gpu_run.py", folderOf("gpu"));
  cpSync(folderOf("gpu"), folderOf(LONG_NAME), { recursive: true });
  const server = await serve(path);
  project.provide("site", { url: server.url, page: server.page });
  return () => server.stop().then(remove);
}
