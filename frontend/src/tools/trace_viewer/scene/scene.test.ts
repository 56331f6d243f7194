import { expect, test } from "vitest";
import { chooseLevel } from "../model/view/view_math";
import { EDGE, HATCHED, NO_EVENT, type Scene } from "./scene";
import { eventRects, randomEvents, spanOf, stage } from "./scene.test_helper";

const event = (row: number, start: number, duration: number, type = 0) => ({
  row,
  start,
  duration,
  type,
});

test("every event is drawn or counted, once, at every level", () => {
  const events = randomEvents(3000, 3);
  const { to } = spanOf(events);
  const { load, scene } = stage(events, to);
  for (let level = 0; level < 9; level++) {
    load(level);
    expect(scene({ level }).events).toBe(3000);
  }
});

test("what is wide enough lies where it was, by the pixel", () => {
  const events = randomEvents(2000, 4, 7);
  const { to } = spanOf(events);
  for (const [from, until] of [
    [0, to],
    [to * 0.4, to * 0.5],
    [to * 0.7, to * 0.7 + 3000],
  ]) {
    const perPs = 400 / (until - from);
    const { load, scene, events: ordered } = stage(events, to);
    const level = chooseLevel(1 / perPs);
    load(level);
    const drawn = scene({ view: { from, to: until }, level });
    const rects = new Map(eventRects(drawn).map((rect) => [rect.id, rect]));
    ordered.forEach(({ row, start, duration }, id) => {
      const isInView = start + duration > from && start < until;
      if (!isInView || duration * perPs < 3) return;
      const rect = rects.get(id)!;
      const left = Math.max((start - from) * perPs, -1);
      const right = Math.min((start + duration - from) * perPs, 400);
      expect(Math.abs(rect.x - left)).toBeLessThanOrEqual(0.7);
      expect(Math.abs(rect.x + rect.width - right)).toBeLessThanOrEqual(0.7);
      expect(rect.y).toBe(24 + row * 18 + 1);
      expect(rect.height).toBe(17);
    });
  }
});

test("the order and number of pixels of a row tell what is where", () => {
  const events = randomEvents(500, 1, 3);
  const { to } = spanOf(events);
  const { load, scene } = stage(events, to);
  load(6);
  const rects = eventRects(scene({ level: 6 }));
  for (let index = 1; index < rects.length; index++)
    expect(rects[index].x).toBeGreaterThanOrEqual(rects[index - 1].x);
});

test("an event over several tiles is one rectangle", () => {
  const { load, scene } = stage([event(0, 100, 5000), event(0, 5200, 10)], 6000);
  load(0);
  const rects = eventRects(scene());
  expect(rects.map(({ id, x, width }) => [id, x, width])).toEqual([
    [0, 7, 333],
    [1, 346, 1],
  ]);
});

test("less than a pixel is a pale pixel, the paler the shorter", () => {
  const { load, scene } = stage([event(0, 0, 8), event(0, 100, 2), event(0, 200, 0)], 4000);
  load(0);
  const rects = eventRects(scene());
  expect(rects.map(({ width }) => width)).toEqual([1, 1, 1]);
  expect(rects[0].alpha).toBeGreaterThan(rects[1].alpha);
  expect(rects[1].alpha).toBeGreaterThan(rects[2].alpha);
  expect(rects[2].alpha).toBeGreaterThan(90);
  expect(rects.some(({ flags }) => flags !== 0)).toBe(false);
});

test("events that touch leave no gap, however narrow they are", () => {
  const events = Array.from({ length: 700 }, (_, index) => event(0, index * 17, 17, index));
  const { load, scene } = stage(events, 700 * 17);
  for (const level of [0, 4, 5]) {
    load(level);
    const drawn = scene({ level, width: 557 });
    const isCovered = new Uint8Array(557);
    for (const { x, width } of eventRects(drawn)) isCovered.fill(1, x, x + width);
    expect(isCovered.indexOf(0)).toBe(-1);
  }
});

test("finer tiles stand in where all are there, without a gap", () => {
  const events = randomEvents(2000, 2, 5);
  const { to } = spanOf(events);
  const { load, scene } = stage(events, to);
  load(3);
  const drawn = scene({ level: 5 });
  expect(drawn.events).toBe(2000);
  expect(unknownRects(drawn)).toBe(0);
});

test("coarser tiles stand in, hatched where they are wide", () => {
  const events = [...randomEvents(2000, 2, 5)];
  const { to } = spanOf(events);
  const { load, scene } = stage(events, to);
  load(7);
  const drawn = scene({ level: 3, view: { from: to / 2, to: to / 2 + 3000 } });
  expect(unknownRects(drawn)).toBe(0);
  const rects = eventRects(drawn);
  expect(rects.length).toBeGreaterThan(5);
  for (const { count, width, flags } of rects) {
    const isHatched = (flags & HATCHED) !== 0;
    if (count === 1 || width < 2) expect(isHatched).toBe(false);
    else if (width > 4) expect(isHatched).toBe(true);
  }
  expect(rects.some(({ flags }) => (flags & HATCHED) !== 0)).toBe(true);
});

test("what is not known is tinted, what is known beside it stays", () => {
  const { load, scene } = stage([event(0, 100, 200), event(0, 3000, 200)], 4095);
  load(0, 0, 2);
  const drawn = scene();
  expect(eventRects(drawn).map(({ id }) => id)).toEqual([0]);
  expect(unknownRects(drawn)).toBe(6);
});

test("an event that reaches over what is not known is known there", () => {
  const { load, scene } = stage([event(0, 100, 1500), event(0, 1900, 100)], 4095);
  load(0, 0, 1);
  load(0, 3, 4);
  const drawn = scene();
  expect(eventRects(drawn).map(({ id, x, width }) => [id, x, width])).toEqual([
    [0, 10, 146],
    [1, 186, 9],
  ]);
  // Nothing is said to be unknown where the event is.
  const unknown = plainRects(drawn).map(({ x, width }) => [x, width]);
  expect(unknown[0]).toEqual([200, 50]);
});

test("wide events of their own have an edge and room for a label", () => {
  const { load, scene } = stage([event(0, 0, 2000), event(0, 2000, 100), event(0, 2100, 5)], 4000);
  load(0);
  const drawn = scene();
  expect(eventRects(drawn).map(({ flags }) => flags)).toEqual([EDGE, EDGE, 0]);
  expect(
    [...drawn.labels.subarray(0, drawn.labelCount)].map((rect) => drawn.entryOf[rect]),
  ).toEqual([0]);
  const inside = scene({ view: { from: 500, to: 900 } });
  expect(eventRects(inside).map(({ x, width, flags }) => [x, width, flags])).toEqual([
    [-1, 401, 0],
  ]);
  expect(inside.labelCount).toBe(1);
});

test("events of the selected name are marked, and so are hits", () => {
  const events = [event(0, 0, 500, 1), event(0, 600, 500, 2), event(1, 700, 300, 1)];
  const { load, scene, types } = stage(events, 4000);
  load(0);
  const selected = { name: "op 1", trackKind: "stream", sectionKind: "device" };
  const marks = [{ level: 0, from: 0, to: 1, lowPs: 0, highPs: 4000 }];
  const drawn = scene({
    selected,
    matches: (_, __, ___, row) =>
      row === 0 ? marks.map((part) => ({ ...part, data: Float64Array.of(600, 1100) })) : [],
  });
  expect(types.numbersOf("op 1")).toHaveLength(1);
  expect(plainRects(drawn).map(({ x, y, width, height }) => [x, y, width, height])).toEqual([
    [0, 25, 50, 2],
    [60, 38, 50, 4],
    [70, 43, 30, 2],
  ]);
  // A launch may have the name of its kernel.
  const launch = scene({ selected: { ...selected, trackKind: "thread", sectionKind: "host" } });
  expect(plainRects(launch)).toEqual([]);
});

test("the pinned lanes hide what scrolls beneath them", () => {
  const { load, scene, input } = stage([event(0, 0, 500), event(1, 0, 500)], 4000);
  load(0);
  const lanes = input.lanes.map((placed) => ({ ...placed, y: placed.y - 30, clip: 10 }));
  const ys = eventRects(scene({ lanes })).map(({ y, height }) => [y, height]);
  expect(ys).toEqual([
    [10, 2],
    [13, 17],
  ]);
});

test("a picture has room for as many rectangles as there are", () => {
  const events = Array.from({ length: 30_000 }, (_, index) => event(0, index * 10, 9));
  const { load, scene } = stage(events, 300_000, 30_000);
  load(0);
  const drawn = scene();
  expect(drawn.entries).toBe(30_000);
  expect(drawn.count).toBeGreaterThanOrEqual(30_000);
});

function plainRects(scene: Scene) {
  return Array.from({ length: scene.count - scene.fills }, (_, index) => scene.fills + index)
    .filter((index) => (scene.flags[index] & NO_EVENT) !== 0)
    .map((index) => {
      const [x, y, width, height] = scene.rects.subarray(index * 4, index * 4 + 4);
      return { x, y, width, height, color: scene.colors[index] };
    });
}

function unknownRects(scene: Scene): number {
  return plainRects(scene).filter(({ color }) => color === 0xffeeeeee).length;
}
