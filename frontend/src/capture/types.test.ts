import { expect, test } from "vitest";
import { failedFirst, headline } from "./capture_progress";
import { parseCaptureStatus, parseTested } from "./types";

const RUNNING = {
  id: "x",
  state: "running",
  ahead: 0,
  elapsed_s: 0.5,
  duration_ms: 1000,
  delay_ms: 0,
  share: 0.25,
  run: "r",
  written: 1,
  workers: [
    { address: "a:1", phase: "written", bytes: 5, attempts: 1 },
    { address: "b:1", phase: "recording", attempts: 2 },
  ],
  error: null,
};

test("a status says what is being done", () => {
  const status = parseCaptureStatus(RUNNING);
  expect(status.share).toBe(0.25);
  expect(headline(status)).toBe("Recording: 1 of 2 workers done");
  expect(headline(parseCaptureStatus({ ...RUNNING, state: "done" }))).toBe(
    "Captured r: 1 of 2 workers",
  );
  expect(headline(parseCaptureStatus({ ...RUNNING, state: "waiting", ahead: 2 }))).toBe(
    "Waiting for 2 other captures",
  );
});

test("other answers are a failure, not a crash", () => {
  expect(parseCaptureStatus(null).state).toBe("failed");
  expect(parseCaptureStatus({ state: "what", workers: [null, 3] }).workers).toHaveLength(2);
  expect(parseTested({ workers: [{ steps: [{}] }] })[0].steps[0].isOk).toBe(false);
  expect(parseTested([])).toEqual([]);
});

test("those that failed come first, the others in their order", () => {
  const phases = { a: "written", b: "failed", c: "cancelled", d: "failed" };
  const workers = Object.entries(phases).map(([address, phase]) => ({ address, phase }));
  const status = parseCaptureStatus({ ...RUNNING, state: "done", workers });
  expect(failedFirst(status.workers).map((worker) => worker.address)).toEqual(["b", "d", "a", "c"]);
});
