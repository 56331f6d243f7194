import { describe, expect, it } from "vitest";
import { type LayerEdge, type LayerNode, layLayers } from "./layered";

const box = (width = 100, height = 40): LayerNode => ({ width, height });
const boxes = (count: number) => Array.from({ length: count }, () => box());
const edge = (from: number, to: number): LayerEdge => ({ from, to });

/** Numbers that look random, and are the same each time. */
function draws(seed: number) {
  let state = seed;
  return (most: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

describe("layers", () => {
  it("has what is taken above what takes it", () => {
    const { y } = layLayers(boxes(4), [edge(0, 1), edge(1, 2), edge(0, 2), edge(3, 2)]);
    expect(y[0]).toBeLessThan(y[1]);
    expect(y[1]).toBeLessThan(y[2]);
    // A source is near what takes it.
    expect(y[3]).toBe(y[1]);
  });

  it("draws two chains without a crossing", () => {
    // a -> d, b -> c: c must stand below b.
    const { x } = layLayers(boxes(4), [edge(0, 3), edge(1, 2)]);
    expect(x[0] < x[1]).toBe(x[3] < x[2]);
  });

  it("bends an edge around what is between its ends", () => {
    const nodes = boxes(3);
    const { x, y, bends } = layLayers(nodes, [edge(0, 1), edge(1, 2), edge(0, 2)]);
    const [point] = bends[2];
    expect(bends[0]).toEqual([]);
    expect(point.y).toBe(y[1] + 20);
    expect(point.x < x[1] || point.x > x[1] + 100).toBe(true);
  });

  it("ends with cycles and with what leads to itself", () => {
    const { y, bends } = layLayers(boxes(3), [edge(0, 1), edge(1, 2), edge(2, 0), edge(1, 1)]);
    expect(new Set(y).size).toBe(3);
    // From its own start to its own end.
    expect(bends[2].length).toBe(1);
  });

  it("is empty where there is nothing", () => {
    expect(layLayers([], [])).toEqual({ width: 0, height: 0, x: [], y: [], bends: [] });
  });

  it("never lets boxes overlap, nor leaves its own bounds", () => {
    for (let seed = 1; seed <= 30; seed++) {
      const draw = draws(seed);
      const count = 1 + draw(60);
      const nodes = Array.from({ length: count }, () => box(20 + draw(200), 20 + draw(80)));
      const edges = Array.from({ length: draw(3 * count) }, () => edge(draw(count), draw(count)));
      const { x, y, width, height } = layLayers(nodes, edges);
      for (let a = 0; a < count; a++) {
        expect(x[a]).toBeGreaterThanOrEqual(-1e-6);
        expect(y[a]).toBeGreaterThanOrEqual(0);
        expect(x[a] + nodes[a].width).toBeLessThanOrEqual(width + 1e-6);
        expect(y[a] + nodes[a].height).toBeLessThanOrEqual(height + 1e-6);
        for (let b = 0; b < a; b++) {
          const isApart =
            x[a] + nodes[a].width <= x[b] + 1e-6 ||
            x[b] + nodes[b].width <= x[a] + 1e-6 ||
            y[a] + nodes[a].height <= y[b] ||
            y[b] + nodes[b].height <= y[a];
          expect(isApart).toBe(true);
        }
      }
    }
  });

  it("lays what may be drawn at most in little time", () => {
    const draw = draws(7);
    const nodes = boxes(400);
    const edges = Array.from({ length: 1200 }, () => {
      const to = 1 + draw(399);
      return edge(draw(to), to);
    });
    const before = process.cpuUsage();
    layLayers(nodes, edges);
    // In µs, however busy the machine is.
    expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
  });
});
