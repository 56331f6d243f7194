import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ViteUserConfig } from "vitest/config";

const SOURCES = join(import.meta.dirname, "src");
/** Tests of views that replace modules, themselves or by a helper: they need modules of their own. */
const REPLACING = readdirSync(SOURCES, { encoding: "utf8", recursive: true })
  .filter((path) => path.endsWith(".test.tsx"))
  .filter((path) => /vi\.mock\(|panes\.test_helper/.test(readFileSync(join(SOURCES, path), "utf8")))
  .map((path) => `src/${path.replaceAll("\\", "/")}`);
const VIEWS = "src/**/*.test.tsx";

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
    // Each file costs a request and its headers: small ones are merged.
    rollupOptions: { output: { experimentalMinChunkSize: 2500 } },
  },
  // Views are tested in a document, which takes most of their time: one serves all files that can
  // share modules.
  test: {
    pool: "threads",
    // Against what hangs: how long a test takes depends on what else the machine does.
    testTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: { include: ["src/**/*.test.ts"], environment: "node", isolate: false },
      },
      {
        extends: true,
        test: { include: [VIEWS], exclude: REPLACING, environment: "happy-dom", isolate: false },
      },
      { extends: true, test: { include: REPLACING, environment: "happy-dom" } },
    ],
  },
} satisfies ViteUserConfig;
