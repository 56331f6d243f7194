import type { ViteUserConfig } from "vitest/config";

// The pages are served under any prefix (TensorBoard, a proxy), so every address is relative, and
// under a policy that allows no inline script or style, so nothing may be inlined as data either.
export default {
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    outDir: "../tbprof/static",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
    // Each file costs a request and its headers: small ones are merged. What only saves pictures is
    // kept apart, else it is merged into what pages load first.
    rollupOptions: {
      output: {
        experimentalMinChunkSize: 2000,
        onlyExplicitManualChunks: true,
        manualChunks: (id) => (/chart\/(picture|svg_pen)\.ts$/.test(id) ? "pictures" : undefined),
      },
    },
  },
  // Views are tested in a document; to make one for each of the other files takes half of the time.
  // Each has a global scope of its own in one process: new processes take twice as long.
  test: {
    // Against what hangs: how long a test takes depends on what else the machine does.
    testTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: { include: ["src/**/*.test.ts"], environment: "node", isolate: false },
      },
      {
        extends: true,
        test: { include: ["src/**/*.test.tsx"], environment: "happy-dom", pool: "vmThreads" },
      },
    ],
  },
} satisfies ViteUserConfig;
