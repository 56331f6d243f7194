import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    environment: "node",
    testTimeout: 60_000,
    // The first request of an installation compiles the analysis.
    hookTimeout: 180_000,
  },
});
