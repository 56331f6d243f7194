import { signal } from "@preact/signals";
import { expect, test } from "vitest";
import { dragged, stepped } from "./overview_strip";

const extent = { from: 0, to: 1000e6 };
const model = { extent: signal(extent) };
const view = { from: 100e6, to: 200e6 };

test("the brush is moved, its edges are drawn, and a new part is chosen", () => {
  expect(dragged("whole", view, 150e6, 450e6, model)).toEqual({ from: 400e6, to: 500e6 });
  expect(dragged("from", view, 100e6, 50e6, model)).toEqual({ from: 50e6, to: 200e6 });
  expect(dragged("to", view, 200e6, 600e6, model)).toEqual({ from: 100e6, to: 600e6 });
  expect(dragged("new", view, 800e6, 700e6, model)).toEqual({ from: 700e6, to: 800e6 });
});

test("an edge that is drawn past the other one becomes that", () => {
  expect(dragged("from", view, 100e6, 400e6, model)).toEqual({ from: 200e6, to: 400e6 });
});

test("keys move and zoom the brush", () => {
  expect(stepped("ArrowRight", view, extent)).toEqual({ from: 112.5e6, to: 212.5e6 });
  expect(stepped("PageDown", view, extent)).toEqual({ from: 200e6, to: 300e6 });
  expect(stepped("End", view, extent)).toEqual({ from: 900e6, to: 1000e6 });
  expect(stepped("ArrowUp", view, extent)).toEqual({ from: 110e6, to: 190e6 });
  expect(stepped("x", view, extent)).toBeNull();
});
