import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files whose tests wait longest for programs and servers: none of them is left to the end. */
const LONG = ["many_hosts", "capture", "states", "pod_viewer", "tensorboard"];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = (file: TestSpecification) =>
      LONG.some((name) => file.moduleId.endsWith(`/${name}.spec.ts`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

// Real servers and a real browser: files side by side, which share a server of all runs and the
// browser of their worker, and patience on a busy machine. A worker more than cores: most files wait now and then.
export default defineConfig({
  test: {
    include: ["e2e/**/*.spec.ts"],
    globalSetup: ["e2e/harness/all_runs.ts"],
    environment: "node",
    isolate: false,
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 240_000 } },
  },
});
