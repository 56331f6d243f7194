import { expect, test } from "vitest";
import { wheelMove } from "./wheel";

const turn = (patch: Partial<WheelEvent>, isAxis = false) =>
  wheelMove(
    {
      deltaX: 0,
      deltaY: 0,
      deltaMode: 0,
      ctrlKey: false,
      metaKey: false,
      shiftKey: false,
      ...patch,
    },
    isAxis,
    800,
  );

test("the wheel scrolls, Shift moves along the axis, Ctrl zooms", () => {
  expect(turn({ deltaY: 100 })).toEqual({ zoom: 0, pan: 0, scroll: 100 });
  expect(turn({ deltaY: 100, shiftKey: true })).toEqual({ zoom: 0, pan: 100, scroll: 0 });
  expect(turn({ deltaX: 100, shiftKey: true })).toEqual({ zoom: 0, pan: 100, scroll: 0 });
  expect(turn({ deltaY: 20, ctrlKey: true }).zoom).toBeCloseTo(0.15);
  expect(turn({ deltaY: -20, metaKey: true }).zoom).toBeCloseTo(-0.15);
});

test("two fingers move in both directions", () => {
  expect(turn({ deltaX: 7, deltaY: 3 })).toEqual({ zoom: 0, pan: 7, scroll: 3 });
});

test("on the axis the wheel zooms", () => {
  expect(turn({ deltaY: 20 }, true).zoom).toBeGreaterThan(0);
  expect(turn({ deltaX: 20 }, true)).toEqual({ zoom: 0, pan: 20, scroll: 0 });
});

test("lines and pages count in pixels, and no turn zooms too far", () => {
  expect(turn({ deltaY: 3, deltaMode: 1 }).scroll).toBe(120);
  expect(turn({ deltaY: 1, deltaMode: 2 }).scroll).toBe(800);
  expect(turn({ deltaY: 5000, ctrlKey: true }).zoom).toBeLessThan(0.5);
});
