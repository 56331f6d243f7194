import { expect, test } from "vitest";
import { sampleTable } from "../../widgets/table/sample.test_helper";
import { readStepTable } from "../steps/step_table";
import { inputEvents, opEvents, stepInTrace, stepTimes } from "./trace_links";

test("ops are found on their side, idle time is not", () => {
  const table = sampleTable({
    operation: ["a/MatMul", "a/MatMul", "IDLE"],
    host_or_device: ["Device", "Host", "Device"],
    occurrences: [3, 1, 0],
  });
  expect([0, 1, 2].map((row) => opEvents(table, row))).toEqual([
    { q: "device-op:a/MatMul" },
    { q: "host-op:a/MatMul" },
    null,
  ]);
});

test("input ops go by name", () => {
  const table = sampleTable({ opName: ["Iterator::Root::Map", null] });
  expect(inputEvents(table, 0)).toEqual({ q: "input-op:Iterator::Root::Map" });
  expect(inputEvents(table, 1)).toBeNull();
});

test("the worst of the whole steps is shown", () => {
  const steps = readStepTable(
    sampleTable({
      stepnum: ["1", "2", "3"],
      infeedTimeMs: [1, 2, 9],
      stepTimeMs: [4, 5, 20],
      startMs: [0, 4, 9],
      slowestMs: [4, 6, 20],
      slowestStartMs: [0, 650, 9],
      slowestHost: ["a", "b", "a"],
      isTruncated: [false, false, true],
    }),
  );
  // The slowest worker ran it long after the first one, on a host of its own.
  const view = { step: "2", from_ms: "650", to_ms: "656" };
  expect(stepInTrace(steps, 1, ["a"])).toEqual({ view });
  expect(stepInTrace(steps, 1, ["a", "b"])).toEqual({ view, hosts: ["b"] });
});

test("steps go by label, and by time where it is known", () => {
  expect(stepTimes("7", 1500, 250.0005)).toEqual({
    step: "7",
    from_ms: "1.5",
    to_ms: "1.750001",
  });
  expect(stepTimes("7", Number.NaN, 250)).toEqual({ step: "7" });
});
