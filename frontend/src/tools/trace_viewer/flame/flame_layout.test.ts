import { expect, test } from "vitest";
import { icicleStep } from "../../../widgets/icicle/icicle_keys";
import { layOutIcicle, nodeAt } from "../../../widgets/icicle/icicle_layout";
import { childrenOf } from "../../../widgets/icicle/weighted_tree";
import { callName, makeCallTree } from "../call_tree/call_tree";
import { SAMPLE, sampleTree } from "../call_tree/sample.test_helper";

const TREE = sampleTree(SAMPLE);
const byName = new Map([...TREE.parent.keys()].map((node) => [callName(TREE, node), node]));
const node = (name: string) => byName.get(name)!;

test("a node is as wide as its time, below the one that it is part of", () => {
  const { left, width } = layOutIcicle(TREE, 0);
  const whole = TREE.totalPs[0];
  for (const at of TREE.parent.keys()) {
    expect(width[at]).toBeCloseTo(TREE.totalPs[at] / whole, 12);
    const below = [...childrenOf(TREE, at)].reduce((sum, child) => sum + width[child], 0);
    expect(below).toBeLessThanOrEqual(width[at] + 1e-12);
  }
  expect([left[node("train")], left[node("forward")]]).toEqual([0, 0]);
  expect(left[node("k")]).toBeCloseTo(100.5 / whole, 12);
  expect(left[node("loss")]).toBeCloseTo(60 / whole, 12);
});

test("what is zoomed into takes the width, and so does what is above it", () => {
  const layout = layOutIcicle(TREE, node("forward"));
  const { width } = layout;
  expect([width[0], width[node("train")], width[node("forward")]]).toEqual([1, 1, 1]);
  expect(width[node("matmul")]).toBeCloseTo(40 / 60, 12);
  expect([width[node("loss")], width[node("k")]]).toEqual([0, 0]);
  expect(nodeAt(layout, 3, 0.5)).toBe(node("matmul"));
});

test("the node at a place, and none beside", () => {
  const layout = layOutIcicle(TREE, 0);
  expect(nodeAt(layout, 0, 0.99)).toBe(0);
  expect(nodeAt(layout, 1, 0.1)).toBe(node("train"));
  expect(nodeAt(layout, 1, 0.95)).toBe(node("k"));
  // Self time of the node above.
  expect(nodeAt(layout, 2, 0.8)).toBe(-1);
  expect([nodeAt(layout, 4, 0.1), nodeAt(layout, -1, 0.1)]).toEqual([-1, -1]);
});

test("arrow keys lead up, down to the largest, and along the row", () => {
  const layout = layOutIcicle(TREE, 0);
  const step = (from: string, key: string) => {
    const to = icicleStep(TREE, layout, node(from), key);
    return to === null ? null : callName(TREE, to);
  };
  expect(step("All calls", "ArrowDown")).toBe("train");
  expect(step("train", "ArrowDown")).toBe("forward");
  expect(step("forward", "ArrowRight")).toBe("loss");
  expect(step("loss", "ArrowLeft")).toBe("forward");
  expect(step("forward", "ArrowLeft")).toBe("forward");
  expect(step("matmul", "ArrowUp")).toBe("forward");
  expect(step("All calls", "ArrowUp")).toBe("All calls");
  expect(step("k", "ArrowDown")).toBe("k");
  expect(step("k", "Home")).toBe("All calls");
  expect(step("k", "x")).toBeNull();
});

test("5,000 nodes are laid out, and 5,000 levels", () => {
  const length = 5001;
  const deep = {
    names: [{ text: "f", category: "host", isTrack: false }],
    parent: Int32Array.from({ length }, (_, index) => index - 1),
    name: new Int32Array(length).fill(0),
    count: new Float64Array(length).fill(1),
    totalPs: Float64Array.from({ length }, (_, index) => length - index),
    selfPs: new Float64Array(length).fill(1),
    longest: new Float64Array(length),
    longestPs: new Float64Array(length),
    host: new Int32Array(length),
  };
  const tree = makeCallTree(deep, "top_down", 0);
  expect(tree.deepest).toBe(5000);
  expect(layOutIcicle(tree, 4000).width[5000]).toBeCloseTo(1 / 1001, 12);
  const wide = Object.fromEntries(
    Array.from({ length: 5000 }, (_, index) => [`g${index}`, { self: 1 }]),
  );
  const layout = layOutIcicle(sampleTree(wide), 0);
  expect(nodeAt(layout, 1, 2500.5 / 5000)).toBe(2501);
});
