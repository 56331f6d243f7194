// @vitest-environment happy-dom

import { beforeEach, expect, test, vi } from "vitest";
import { runKey } from "../../../base/keys";
import { createModel, type TimelineModel } from "../model/model";
import { placeHosts } from "../model/place_hosts";
import type { ViewApi } from "../model/types";
import { sampleTimeline } from "../protocol/sample.test_helper";
import { type Actions, createActions } from "./actions";
import { timelineKeys } from "./keys";

const MS = 1e9;

let model: TimelineModel;
let actions: Actions;
let isDragging = false;
const place = vi.fn<ViewApi["place"]>();
const motion = { flyTo: vi.fn(), press: vi.fn(), stop: vi.fn() };
const engine = { pointer: null as { x: number; y: number } | null, psAt: (x: number) => x * MS };

beforeEach(() => {
  vi.clearAllMocks();
  isDragging = false;
  engine.pointer = null;
  model = createModel({ place } as unknown as ViewApi);
  model.hosts.value = placeHosts([{ events: sampleTimeline(), derived: null }]);
  model.view.value = { from: 0, to: 100 * MS };
  model.height.value = 500;
  actions = createActions({ model, engine, motion, cancelDrag: () => isDragging });
});

const at = (row: number, startPs: number, durationPs: number, name = "op") => ({
  row,
  startPs,
  durationPs,
  name,
});
const press = (key: string, more: KeyboardEventInit = {}) =>
  runKey(timelineKeys(actions), new KeyboardEvent("keydown", { key, cancelable: true, ...more }));
const settle = () => new Promise((resolve) => setTimeout(resolve));

test("an arrow goes to the next event, wherever it is", async () => {
  model.selection.value = { host: 0, part: "events", id: 5, place: at(2, MS, MS) };
  place.mockResolvedValue({ id: 6, place: at(2, 90 * MS, MS) });
  model.view.value = { from: 0, to: 10 * MS };
  press("ArrowRight");
  await settle();
  expect(place.mock.calls[0].slice(0, 3)).toEqual([
    expect.objectContaining({ host: "h0", part: "events", version: "v1" }),
    5,
    "next",
  ]);
  expect(model.selection.peek()).toMatchObject({ id: 6, place: { startPs: 90 * MS } });
  expect(model.view.peek().from).toBeGreaterThan(80 * MS);
  expect(model.view.peek().to).toBeGreaterThan(91 * MS);
});

test("at the end of the track the selection stays", async () => {
  model.selection.value = { host: 0, part: "events", id: 5, place: null };
  place.mockResolvedValue(null);
  press("ArrowUp");
  await settle();
  expect(place.mock.calls[0][2]).toBe("parent");
  expect(model.selection.peek()?.id).toBe(5);
});

const neighbors: ViewApi["place"] = async (_, id, move) => ({
  id: move === "next" ? id + 1 : id - 1,
  place: at(2, 0, MS),
});

test("quick presses are all done, each from where the one before has led", async () => {
  model.selection.value = { host: 0, part: "events", id: 5, place: null };
  place.mockImplementation(neighbors);
  for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"]) press(key);
  await settle();
  expect(place.mock.calls.map(([, id, move]) => [id, move])).toEqual([
    [5, "next"],
    [6, "next"],
    [7, "next"],
    [8, "previous"],
  ]);
  expect(model.selection.peek()?.id).toBe(7);
});

test("a key that is held does not run ahead of the answers", async () => {
  model.selection.value = { host: 0, part: "events", id: 5, place: null };
  place.mockImplementation(neighbors);
  press("ArrowRight");
  for (let times = 0; times < 20; times++) press("ArrowRight", { repeat: true });
  await settle();
  expect(model.selection.peek()?.id).toBe(6);
  press("ArrowRight", { repeat: true });
  await settle();
  expect(model.selection.peek()?.id).toBe(7);
});

test("a click ends what the keys still had to do", async () => {
  model.selection.value = { host: 0, part: "events", id: 5, place: null };
  place.mockImplementation(neighbors);
  press("ArrowRight");
  press("ArrowRight");
  const event = { host: 0, part: "events" as const, id: 50, ...at(2, MS, MS) };
  actions.choose({ ...event, category: 0, count: 1, roundingPs: 0, x: 0, y: 0 });
  await settle();
  expect(model.selection.peek()?.id).toBe(50);
});

test("an answer that fails says so, and the next move goes on", async () => {
  model.selection.value = { host: 0, part: "events", id: 5, place: null };
  place.mockRejectedValueOnce(new Error("no")).mockImplementation(neighbors);
  press("ArrowRight");
  press("ArrowRight");
  await settle();
  expect(model.error.peek()).toEqual(new Error("no"));
  expect(model.selection.peek()?.id).toBe(6);
});

test("without a selection the arrows move the view", () => {
  model.view.value = { from: 40 * MS, to: 50 * MS };
  press("ArrowRight");
  expect(motion.flyTo).toHaveBeenCalledWith({ from: 42 * MS, to: 52 * MS });
  press("ArrowDown");
  expect(model.scrollTop.peek()).toBeGreaterThan(0);
  expect(place).not.toHaveBeenCalled();
});

test("F fits the selected event, or the range; 0 shows all", () => {
  press("f");
  expect(motion.flyTo).not.toHaveBeenCalled();
  model.range.value = { from: 20 * MS, to: 30 * MS, tracks: null };
  press("f");
  expect(motion.flyTo).toHaveBeenLastCalledWith({ from: 19 * MS, to: 31 * MS });
  model.selection.value = { host: 0, part: "events", id: 5, place: at(2, 60 * MS, 10 * MS) };
  press("f");
  expect(motion.flyTo).toHaveBeenLastCalledWith({ from: 59 * MS, to: 71 * MS });
  press("0");
  expect(motion.flyTo).toHaveBeenLastCalledWith({ from: -1 * MS, to: 101 * MS });
});

test("M marks the range, else the event, else the pointer's place, else the middle", () => {
  press("m");
  engine.pointer = { x: 7, y: 100 };
  press("m");
  model.selection.value = {
    host: 0,
    part: "events",
    id: 5,
    place: at(2, 60 * MS, 10 * MS, "void a::Fill<int>(int)"),
  };
  press("m");
  model.range.value = { from: 20 * MS, to: 30 * MS, tracks: null };
  press("m");
  expect(model.marks.peek().map(({ from, to, label }) => [from / MS, to / MS, label])).toEqual([
    [50, 50, "Mark 1"],
    [7, 7, "Mark 2"],
    [60, 70, "Fill<int>(int)"],
    [20, 30, "10.0 ms"],
  ]);
  expect(actions.edited.value).toBe(-1);
  // What has a mark gets no second one: its label is to be written.
  press("m");
  expect(model.marks.peek()).toHaveLength(4);
  expect(actions.edited.value).toBe(3);
});

test("Escape gives up one thing at a time", () => {
  model.range.value = { from: 0, to: 1, tracks: null };
  model.selection.value = { host: 0, part: "events", id: 5, place: null };
  model.search.value = { text: "op", isRegex: false, isCase: false };
  isDragging = true;
  press("Escape");
  expect(model.range.peek()).not.toBeNull();
  isDragging = false;
  const left = () => [model.range, model.selection, model.search].filter((signal) => signal.peek());
  press("Escape");
  expect(left()).toHaveLength(2);
  press("Escape");
  expect(left()).toEqual([model.search]);
  press("Escape");
  expect(left()).toEqual([]);
});

test("1 to 4 take tools, W A S D move, / searches", () => {
  for (const [key, tool] of Object.entries({ 2: "pan", 3: "zoom", 4: "timing", 1: "select" })) {
    press(key);
    expect(model.tool.peek()).toBe(tool);
  }
  for (const key of "wasd") press(key);
  expect(motion.press.mock.calls.flat()).toEqual(["in", "left", "out", "right"]);
  press("/");
  expect(model.searchAsked.peek()).toBe(1);
});

test("a click on nothing clears, on an event selects it", () => {
  model.range.value = { from: 0, to: 1, tracks: null };
  const event = { host: 0, part: "events" as const, id: 5, ...at(2, MS, MS) };
  actions.choose({ ...event, category: 0, count: 3, roundingPs: 0, x: 0, y: 0 });
  expect(model.selection.peek()).toEqual({
    host: 0,
    part: "events",
    id: 5,
    place: at(2, MS, MS),
  });
  actions.choose(null);
  expect([model.selection.peek(), model.range.peek()]).toEqual([null, null]);
});

test("every key of the timeline is listed once", () => {
  const keys = timelineKeys(actions).flatMap((binding) => binding.keys);
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of ["?", "t"]) expect(keys).not.toContain(key);
});

test("Backspace goes back to where the view has rested, and stops what moves it", () => {
  const before = { from: 0, to: 10 * MS };
  model.places.value = [{ view: before, range: null }];
  press("Backspace");
  expect(model.view.value).toEqual(before);
  expect(motion.stop).toHaveBeenCalledOnce();
});
