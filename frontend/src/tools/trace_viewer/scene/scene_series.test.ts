import { expect, test } from "vitest";
import type { PiecePart } from "../data/window_store";
import type { CounterPoints } from "../protocol/payload";
import { Scene } from "./scene";
import { stage } from "./scene.test_helper";
import { drawBusy, drawCounter, type SeriesPlace } from "./scene_series";

const { source, input } = stage([{ row: 0, start: 0, duration: 5, type: 1 }], 3999);
const colors = { ...input.colors, counter: 1, counterSpread: 2, counterEdge: 3 };
const place: SeriesPlace = { source, y: 0, height: 40, clip: 0, lane: 0 };
const view = { from: 0, to: 4000 };

function part<T>(data: T | null, lowPs = 0, highPs = 4000, level = 0): PiecePart<T> {
  return { level, from: 0, to: 2, data, lowPs, highPs };
}

/** [x, y, width, height] of what has a color. */
function rects(scene: Scene, color: number) {
  return Array.from({ length: scene.count }, (_, index) => index)
    .filter((index) => scene.colors[index] === color)
    .map((at) => [...scene.rects.subarray(at * 4, at * 4 + 4)]);
}

function newScene(): Scene {
  const scene = new Scene();
  scene.reset(400, 40, 0);
  return scene;
}

function points(time: number[], min: number[], max: number[], last: number[]): CounterPoints {
  const [timePs, ...values] = [time, min, max, last].map((column) => Float64Array.from(column));
  return { timePs, min: values[0], max: values[1], last: values[2] };
}

test("a counter holds its value until the next, to the end of the trace", () => {
  const scene = newScene();
  const data = points([1000, 2000], [5, 10], [5, 10], [5, 10]);
  drawCounter(scene, view, place, [part(data)], { least: 0, most: 10 }, colors);
  expect(rects(scene, 1)).toEqual([
    [100, 20, 100, 20],
    [200, 0, 200, 40],
  ]);
  expect(rects(scene, 3)).toEqual([
    [100, 20, 100, 1],
    [200, 0, 200, 1],
  ]);
  expect(rects(scene, 2)).toEqual([]);
});

test("what a bucket went through is paler above its last value", () => {
  const scene = newScene();
  const data = points([0], [0], [10], [5]);
  drawCounter(scene, view, place, [part(data, 0, 4000, 6)], { least: 0, most: 10 }, colors);
  expect(rects(scene, 2)).toEqual([[0, 0, 6, 40]]);
});

test("negative values hang from zero", () => {
  const scene = newScene();
  const data = points([0, 2000], [-10, 10], [-10, 10], [-10, 10]);
  drawCounter(scene, view, place, [part(data)], { least: -10, most: 10 }, colors);
  expect(rects(scene, 1)).toEqual([
    [0, 20, 200, 20],
    [200, 0, 200, 20],
  ]);
});

test("a part is drawn where it is asked for, and what is nothing not at all", () => {
  const scene = newScene();
  const data = points([0], [10], [10], [10]);
  const parts = [part(data, 1000, 2000), part<CounterPoints>(null, 2000, 4000)];
  drawCounter(scene, view, place, parts, { least: 0, most: 10 }, colors);
  expect(rects(scene, 1)).toEqual([[100, 0, 100, 40]]);
});

test("busy shares are columns, of several sections their mean, and never lost", () => {
  const scene = newScene();
  const one = new Float32Array(4096).fill(1, 0, 1000).fill(0.001, 1000, 2000);
  const other = new Float32Array(4096).fill(0.5, 0, 1000);
  drawBusy(scene, view, place, [[part(one)], [part(other)]], 9);
  const columns = rects(scene, 9);
  const covered = (from: number, to: number, top: number) =>
    columns
      .filter(([x, y]) => x >= from && x < to && y === top)
      .reduce((sum, [, , width]) => sum + width, 0);
  expect(covered(0, 100, 10)).toBe(100);
  expect(covered(100, 200, 39)).toBe(100);
  expect(columns.every(([x]) => x < 200)).toBe(true);
});

test("lanes beneath pinned ones are cut", () => {
  const scene = newScene();
  const data = points([0], [10], [10], [10]);
  const cut = { ...place, clip: 15 };
  drawCounter(scene, view, cut, [part(data)], { least: 0, most: 10 }, colors);
  expect(rects(scene, 1)).toEqual([[0, 15, 400, 25]]);
});
