import { expect, test } from "vitest";
import { boxesIn, firstLook } from "./viewport";

const FRAME = { width: 800, height: 600 };
/** A column of boxes, 100 high. */
const column = (count: number) => ({
  width: 200,
  height: count * 100,
  nodes: Array.from({ length: count }, (_, node) => ({
    node,
    x: 0,
    y: node * 100,
    width: 200,
    height: 80,
  })),
});

test("a graph that is legible as a whole is in view as a whole", () => {
  const graph = column(9);
  const look = firstLook(graph, FRAME, graph.nodes[8]);
  expect(look.scale).toBeCloseTo(2 / 3);
  expect(boxesIn(graph, look, FRAME)).toBe(9);
});

test("of a larger one, the surroundings of a node are in view, easy to read", () => {
  const graph = column(10);
  const look = firstLook(graph, FRAME, graph.nodes[9]);
  expect(look.scale).toBe(0.8);
  // 750 pixels of the graph, from its end up.
  expect(look.y).toBe(250);
  expect(boxesIn(graph, look, FRAME)).toBe(8);
});
