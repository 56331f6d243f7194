// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { fitItems } from "../../../widgets/graph/name_fit";
import {
  boxesIn,
  firstLook,
  fitGraph,
  formatLook,
  pan,
  parseLook,
  reveal,
  zoomViewport,
} from "../../../widgets/graph/viewport/viewport";
import { type CallGraph, type IteratorNode, parseTfData } from "../payload";
import { samplePayload } from "../sample.test_helper";
import { executionPlace, iteratorPlace } from "../trace_places";
import { layGraph, NODE, pathBetween } from "./graph_layout";
import { BESIDE, chooseShown, MORE, MOST, makeTree } from "./graph_tree";
import { shortParameters } from "./node_shapes";

const { graph } = parseTfData(samplePayload());
const tree = makeTree(graph);

/** `count` iterators; the parent of each is what `parentOf` says. */
function many(count: number, parentOf: (at: number) => number): CallGraph {
  const [node] = graph.nodes;
  const nodes = Array.from(
    { length: count },
    (_, index): IteratorNode => ({
      ...node,
      id: String(index),
      parent: parentOf(index),
      kind: index === count - 1 ? "bottleneck" : "other",
      total: (index === 0 ? 1e6 : count - index) as IteratorNode["total"],
      self: 1 as IteratorNode["self"],
    }),
  );
  return { ...graph, nodes };
}

test("sources are at the left, what the program calls at the right", () => {
  const layout = layGraph(tree, chooseShown(tree, []));
  expect(layout.nodes.map(({ node }) => tree.nodes[node].type)).toEqual([
    "TFRecord",
    "ParallelMapV2",
    "Shuffle",
    "BatchV2",
    "Prefetch",
    "Root",
  ]);
  const xs = layout.nodes.map(({ x }) => x);
  expect(xs.every((x, index) => index === 0 || x >= xs[index - 1] + NODE.width)).toBe(true);
  expect(layout.edges.length).toBe(5);
  expect(layout.edges.filter(({ isCritical }) => isCritical).length).toBe(4);
});

test("a caller is in the middle of those that it asks, and no boxes overlap", () => {
  // 0 asks 1 and 2, 1 asks 3 and 4; 5 stands alone. Hundreds below 2 become a stub.
  const parents = [-1, 0, 0, 1, 1, -1];
  const forest = makeTree(many(400, (at) => parents[at] ?? 2));
  const { nodes, stubs, width, height } = layGraph(forest, chooseShown(forest, []));
  expect(stubs.length).toBe(1);
  const boxes = [...nodes, ...stubs];
  const of = (node: number) => nodes.find((box) => box.node === node)!;
  expect(of(1).y).toBeCloseTo((of(3).y + of(4).y) / 2);
  expect([of(3).x, of(1).x, of(0).x]).toEqual([12, 218, 424]);
  expect(of(5).x).toBe(of(0).x);
  for (const [at, one] of boxes.entries()) {
    expect(Math.min(one.x, one.y)).toBeGreaterThanOrEqual(12);
    expect([one.x + one.width <= width, one.y + one.height <= height]).toEqual([true, true]);
    for (const other of boxes.slice(at + 1))
      if (other.x === one.x)
        expect(
          Math.abs(other.y + other.height / 2 - one.y - one.height / 2),
        ).toBeGreaterThanOrEqual((one.height + other.height) / 2 + 16 - 1e-6);
  }
});

test("few iterators are all drawn, of many the bottleneck, its callers and the longest", () => {
  expect(chooseShown(tree, [])).toEqual({ nodes: [0, 1, 2, 3, 4, 5], stubs: [] });
  // A tree of two levels: 50 below the root, 40 below each of those.
  const large = makeTree(many(2051, (at) => (at === 0 ? -1 : at <= 50 ? 0 : ((at - 51) % 50) + 1)));
  const shown = chooseShown(large, []);
  expect(shown.nodes.length).toBe(1 + 8 + 8 * 8);
  expect(shown.nodes).toContain(2050);
  expect(shown.nodes).toContain(large.nodes[2050].parent);
  const hidden = shown.stubs.reduce((sum, { count }) => sum + count, 0);
  expect(shown.nodes.length + hidden).toBe(2051);
  for (const at of shown.nodes) {
    const { parent } = large.nodes[at];
    expect(parent < 0 || shown.nodes.includes(parent)).toBe(true);
  }
});

test("a stub opens into the next ones below, up to a limit", () => {
  const wide = makeTree(many(3000, (at) => (at === 0 ? -1 : 0)));
  const before = chooseShown(wide, []);
  const hidden = 3000 - 1 - BESIDE;
  expect(before.stubs).toEqual([{ parent: 0, count: hidden, self: hidden }]);
  expect(chooseShown(wide, ["0"]).nodes.length).toBe(1 + BESIDE + MORE);
  expect(chooseShown(wide, Array(100).fill("0")).nodes.length).toBe(MOST);
  expect(chooseShown(wide, ["nobody"])).toEqual(before);
});

test.each([
  ["side by side", (at: number) => (at === 0 ? -1 : 0)],
  ["in a chain", (at: number) => at - 1],
])(
  "of thousands of iterators %s no more are laid out than takes a moment",
  (_, parentOf) => {
    const large = makeTree(many(5000, parentOf));
    const shown = chooseShown(large, Array(100).fill("0"));
    const layout = layGraph(large, shown);
    expect(layout.nodes.length).toBe(shown.nodes.length);
    expect(layout.nodes.length).toBeGreaterThan(100);
    expect(layout.nodes.length).toBeLessThanOrEqual(MOST);
  },
  20_000,
);

test("without iterators there is no graph", () => {
  const empty = makeTree({ ...graph, nodes: [] });
  const layout = layGraph(empty, chooseShown(empty, []));
  expect([layout.nodes, layout.edges, layout.width]).toEqual([[], [], 0]);
});

test("an edge goes from side to side", () => {
  const box = (x: number, y: number) => ({ x, y, width: 10, height: 20 });
  expect(pathBetween(box(0, 0), box(30, 40))).toBe("M 10 10 C 20 10 20 50 30 50");
});

test("the parameters that tell most are in the node", () => {
  const of = (json: Record<string, string>) =>
    shortParameters(Object.entries(json).map(([name, value]) => ({ name, value })));
  expect(of({ deterministic: "true", parallelism: "8" })).toEqual(["parallelism 8"]);
  expect(of({ buffer_limit: "-1", autotune: "true" })).toEqual(["buffer auto", "autotuned"]);
  expect(of({ autotune: "false", cycle_length: "4", block_length: "1" })).toEqual([
    "cycle 4",
    "block 1",
  ]);
  expect(of({ parallelism: "unavailable" })).toEqual([]);
  expect(of({})).toEqual([]);
});

test("what a line is too short for goes to the next one, and is cut in the last", () => {
  // Without a canvas letters of 10 pixels are 5.8 wide: 60 pixels hold 10 of them.
  const items = ["aaaa", "bbb", "cccc", "d"];
  expect(fitItems(items, 2, 60, 10)).toEqual(["aaaa · bbb", "cccc · d"]);
  expect(fitItems(items, 1, 60, 10)[0]).toMatch(/^aaaa .*….* d$/);
  expect(fitItems([], 2, 60, 10)).toEqual([]);
});

test("an execution's place in the trace is its time, an iterator's also its name", () => {
  expect(executionPlace(graph)).toEqual({ view: { from_ms: "1.2", to_ms: "77.2" }, hosts: ["h0"] });
  // Read ahead: it began before.
  expect(iteratorPlace(graph, graph.nodes[5])).toEqual({
    view: { q: `iterator:${graph.nodes[5].longName}`, from_ms: "1", to_ms: "77.2" },
    hosts: ["h0"],
  });
  expect(executionPlace({ ...graph, nodes: [] })).toBeNull();
});

const FRAME = { width: 800, height: 400 };

test("a graph that fits is shown whole, else around the bottleneck at a size that can be read", () => {
  expect(firstLook({ width: 600, height: 200 }, FRAME, undefined)).toEqual({
    x: -100,
    y: -100,
    scale: 1,
  });
  const box = { x: 2000, y: 0, width: 172, height: 128 };
  const look = firstLook({ width: 4000, height: 150 }, FRAME, box);
  expect(look.scale).toBe(0.8);
  expect(look.x).toBe(2086 - 500);
  expect(fitGraph({ width: 4000, height: 150 }, FRAME).scale).toBe(0.2);
});

test("zooming keeps the point under the pointer, panning keeps some of the graph", () => {
  const look = { x: 100, y: 50, scale: 1 };
  const larger = zoomViewport(look, 2, 200, 100);
  expect(larger.x + 200 / larger.scale).toBe(300);
  expect(larger.y + 100 / larger.scale).toBe(150);
  const graphSize = { width: 1000, height: 300 };
  expect(pan(look, 1e6, 0, graphSize, FRAME).x).toBe(1000 - 160);
  expect(pan(look, -1e6, 0, graphSize, FRAME).x).toBe(-640);
});

test("what is revealed moves no further than needed", () => {
  const look = { x: 0, y: 0, scale: 1 };
  expect(reveal(look, { x: 100, y: 100, width: 172, height: 128 }, FRAME)).toEqual(look);
  expect(reveal(look, { x: 900, y: 100, width: 172, height: 128 }, FRAME).x).toBe(288);
  expect(reveal({ ...look, x: 500 }, { x: 100, y: 100, width: 172, height: 128 }, FRAME).x).toBe(
    84,
  );
});

test("what is in view is counted", () => {
  const nodes = [0, 200, 400].map((x) => ({ x, y: 0, width: 100, height: 100 }));
  expect(boxesIn({ nodes }, { x: 50, y: 0, scale: 1 }, { width: 200, height: 50 })).toBe(2);
  expect(boxesIn({ nodes }, { x: 0, y: 100, scale: 1 }, { width: 900, height: 50 })).toBe(0);
});

test("the address holds what is in view, and nothing else is understood", () => {
  expect(parseLook(formatLook({ x: 12.345, y: -3, scale: 0.81234 }))).toEqual({
    x: 12.3,
    y: -3,
    scale: 0.812,
  });
  for (const text of [undefined, "", "1,2", "1,2,0", "a,b,c", "1,2,-1", "1,,1"])
    expect(parseLook(text)).toBeNull();
});
