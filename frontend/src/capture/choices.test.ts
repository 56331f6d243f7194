// @vitest-environment happy-dom
import { beforeEach, expect, test } from "vitest";
import {
  DEFAULTS,
  isPreset,
  PRESETS,
  recentAddresses,
  rememberAddresses,
  requestOf,
} from "./choices";

beforeEach(() => localStorage.clear());

test("numbers go as numbers, and what is none as it was typed", () => {
  const request = requestOf({ ...DEFAULTS, durationMs: " 2,000 ", delayMs: "soon", retries: "-1" });
  expect(request.duration_ms).toBe(2000);
  expect(request.delay_ms).toBe("soon");
  expect(request.retries).toBe(-1);
});

test("options of the profiler are lines of name=value", () => {
  const request = requestOf({ ...DEFAULTS, advanced: "a=1\n\n b = x=y \nbare" });
  expect(request.advanced).toEqual({ a: "1", b: "x=y", "bare ": "" });
});

test("the first preset is what is chosen at first", () => {
  expect(PRESETS.map((preset) => isPreset(DEFAULTS, preset))).toEqual([true, false, false]);
});

test("the last addresses come first, each once, and not for ever", () => {
  for (const address of ["a:1", "b:1", "a:1", "", "  "]) rememberAddresses(address);
  expect(recentAddresses()).toEqual(["a:1", "b:1"]);
  for (let index = 0; index < 20; index++) rememberAddresses(`h${index}:1`);
  expect(recentAddresses()).toHaveLength(8);
  expect(recentAddresses()[0]).toBe("h19:1");
});

test("values that others left in the storage are not addresses", () => {
  localStorage.setItem("tbprof.capture.recent", '{"a":1}');
  expect(recentAddresses()).toEqual([]);
  localStorage.setItem("tbprof.capture.recent", '["a:1",3]');
  expect(recentAddresses()).toEqual(["a:1"]);
  localStorage.setItem("tbprof.capture.recent", "{");
  expect(recentAddresses()).toEqual([]);
});
