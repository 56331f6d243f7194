import { defineConfig } from "vitest/config";

// Real servers and a real browser: files side by side, which share a server of all runs and the
// browser of their worker, and patience on a busy machine. A worker more than cores: most files wait now and then.
export default defineConfig({
  test: {
    include: ["e2e/**/*.spec.ts"],
    globalSetup: ["e2e/harness/all_runs.ts"],
    environment: "node",
    isolate: false,
    maxWorkers: 3,
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
