import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createModel, type TimelineModel } from "../model/model";
import { placeHosts } from "../model/place_hosts";
import type { ViewApi } from "../model/types";
import { sampleTimeline } from "../protocol/sample.test_helper";
import { Motion } from "./motion";

const MS = 1e9;
let model: TimelineModel;
let motion: Motion;
let reduced = false;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "Date"] });
  vi.stubGlobal("requestAnimationFrame", (react: () => void) => setTimeout(react, 16));
  vi.stubGlobal("cancelAnimationFrame", (id: number) => clearTimeout(id));
  vi.stubGlobal("matchMedia", () => ({ matches: reduced }));
  reduced = false;
  model = createModel({} as ViewApi);
  model.hosts.value = placeHosts([{ events: sampleTimeline(), derived: null }]);
  model.view.value = { from: 40 * MS, to: 60 * MS };
  motion = new Motion(
    model,
    () => 45 * MS,
    () => Date.now(),
  );
});
afterEach(() => {
  motion.dispose();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const width = () => model.view.peek().to - model.view.peek().from;

test("a key that is held moves on until it is released", () => {
  motion.press("right");
  vi.advanceTimersByTime(300);
  const first = model.view.peek().from;
  expect(first).toBeGreaterThan(41 * MS);
  // Keys repeat while they are held.
  motion.press("right");
  vi.advanceTimersByTime(300);
  const second = model.view.peek().from;
  expect(second).toBeGreaterThan(first);
  motion.release("right");
  vi.advanceTimersByTime(50);
  const last = model.view.peek().from;
  vi.advanceTimersByTime(500);
  expect(model.view.peek().from).toBe(last);
  expect(width()).toBeCloseTo(20 * MS, 0);
});

test("a short press moves, too", () => {
  motion.press("in");
  motion.release("in");
  vi.advanceTimersByTime(500);
  expect(width()).toBeLessThan(19 * MS);
  expect(width()).toBeGreaterThan(10 * MS);
});

test("a short press moves although the page was busy until it ended", () => {
  vi.stubGlobal("requestAnimationFrame", (react: () => void) => setTimeout(react, 400));
  motion.press("in");
  motion.release("in");
  vi.advanceTimersByTime(1000);
  expect(width()).toBeLessThan(19 * MS);
  expect(width()).toBeGreaterThan(10 * MS);
});

test("the instant under the pointer stays while zooming", () => {
  const share = () => (45 * MS - model.view.peek().from) / width();
  const before = share();
  motion.press("in");
  vi.advanceTimersByTime(500);
  expect(share()).toBeCloseTo(before, 6);
});

test("a flight ends where it is to, and a hand stops it", () => {
  motion.flyTo({ from: 10 * MS, to: 11 * MS });
  vi.advanceTimersByTime(100);
  expect(width()).toBeLessThan(20 * MS);
  expect(width()).toBeGreaterThan(1 * MS);
  vi.advanceTimersByTime(300);
  expect(model.view.peek()).toEqual({ from: 10 * MS, to: 11 * MS });
  motion.flyTo({ from: 0, to: 50 * MS });
  vi.advanceTimersByTime(50);
  motion.stop();
  const stopped = model.view.peek();
  vi.advanceTimersByTime(500);
  expect(model.view.peek()).toEqual(stopped);
});

test("with less motion views change at once", () => {
  reduced = true;
  motion.flyTo({ from: 10 * MS, to: 11 * MS });
  expect(model.view.peek()).toEqual({ from: 10 * MS, to: 11 * MS });
});

test("at the closest nothing changes any more, however long the key is held", () => {
  motion.press("in");
  vi.advanceTimersByTime(20_000);
  expect(width()).toBeCloseTo(100, 3);
  const views = vi.fn();
  const stop = model.view.subscribe(views);
  vi.advanceTimersByTime(1000);
  expect(views).toHaveBeenCalledOnce();
  stop();
});
