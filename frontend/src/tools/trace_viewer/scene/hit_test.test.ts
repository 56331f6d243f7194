import { expect, test } from "vitest";
import { hitAt, type SnapInput, snap } from "./hit_test";
import { stage } from "./scene.test_helper";

const event = (row: number, start: number, duration: number, type = 0) => ({
  row,
  start,
  duration,
  type,
});

// 10 ps a pixel; rows at y 25 and 43.
const events = [event(0, 0, 500), event(0, 500, 300), event(0, 2000, 3), event(1, 520, 60)];
const { input, load, scene: draw } = stage(events, 4000);
load(0);
const scene = draw();
const hit = (x: number, y: number) => hitAt(scene, input.lanes, x, y, 1)?.id ?? null;

test("what the pointer is on is the event there", () => {
  expect([hit(10, 30), hit(49, 30), hit(51, 30), hit(79, 41)]).toEqual([0, 0, 1, 1]);
  expect(hit(54, 50)).toBe(3);
});

test("narrow events are meant from close by", () => {
  expect([hit(200, 30), hit(203, 30), hit(197, 30)]).toEqual([2, 2, 2]);
  expect([hit(205, 30), hit(120, 30)]).toEqual([null, null]);
});

test("there is nothing in headers and below the tracks", () => {
  expect([hit(10, 5), hit(10, 24), hit(10, 500)]).toEqual([null, null, null]);
});

test("a hit has its place and its row", () => {
  expect(hitAt(scene, input.lanes, 54, 50, 1)).toMatchObject({
    row: 1,
    startPs: 520,
    endPs: 580,
    count: 1,
    roundingPs: 0,
  });
});

test("rulers snap to the nearest edge of the row under the pointer", () => {
  const snapInput: SnapInput = {
    scene,
    dpr: 1,
    toPs: (x) => x * 10,
    psPerPixel: 10,
    others: [3333],
  };
  const at = (x: number, y: number) => {
    const { rounded, ...rest } = snap(snapInput, x, y);
    expect(rounded).toBeNull();
    return rest;
  };
  expect(at(47, 30)).toEqual({ ps: 500, isSnapped: true });
  expect(at(84, 30)).toEqual({ ps: 800, isSnapped: true });
  expect(at(54, 50)).toEqual({ ps: 520, isSnapped: true });
  expect(at(57, 50)).toEqual({ ps: 580, isSnapped: true });
  expect(at(120, 30)).toEqual({ ps: 1200, isSnapped: false });
  expect(at(330, 200)).toEqual({ ps: 3333, isSnapped: true });
});

test("edges that the picture has rounded say of which event they are", () => {
  const coarse = stage(events, 4000);
  coarse.load(6);
  const rounded = (x: number, y: number) =>
    snap(
      {
        scene: coarse.scene({ level: 6 }),
        dpr: 1,
        toPs: (at) => at * 10,
        psPerPixel: 10,
        others: [],
      },
      x,
      y,
    ).rounded;
  expect(rounded(49, 30)).toMatchObject({ id: 0, isEnd: true });
  expect(rounded(79, 30)).toMatchObject({ id: 1, isEnd: true });
  expect(rounded(120, 30)).toBeNull();
});
