import { expect, test } from "vitest";
import { childrenOf, pathTo } from "../../../widgets/icicle/weighted_tree";
import { callName, findPath, pathKey } from "./call_tree";
import { parseCalls } from "./calls_api";
import { mergeTrees } from "./merge_trees";
import { callsJson, SAMPLE, sampleTree } from "./sample.test_helper";

const TREE = sampleTree(SAMPLE);
const named = (node: number) => callName(TREE, node);

test("children are in the order of their time, the unlisted ones last", () => {
  expect([...childrenOf(TREE, 0)].map(named)).toEqual(["train", "k"]);
  const [train] = childrenOf(TREE, 0);
  expect([...childrenOf(TREE, train)].map(named)).toEqual(["forward", "loss", "Other calls"]);
  expect([TREE.deepest, TREE.depth[train]]).toEqual([3, 1]);
});

test("a node is found in another tree by the names above it", () => {
  const matmul = TREE.parent.length - 1;
  expect(pathTo(TREE, matmul).map(named)).toEqual(["All calls", "train", "forward", "matmul"]);
  const key = pathKey(TREE, matmul);
  expect(findPath(TREE, key)).toBe(matmul);
  const other = sampleTree({ train: { self: 0, below: { forward: { self: 3 } } } });
  expect(findPath(other, key)).toBe(-1);
  expect(callName(other, findPath(other, pathKey(TREE, TREE.parent[matmul])))).toBe("forward");
  expect(findPath(other, pathKey(TREE, 0))).toBe(0);
});

test("trees of several hosts are one, each time of which adds up", () => {
  const one = parseCalls(callsJson(SAMPLE)).columns;
  const other = parseCalls(
    callsJson({ train: { self: 1, below: { matmul: { self: 200 }, "…": { self: 2 } } } }),
  ).columns;
  const merged = mergeTrees([one, { ...other, host: new Int32Array(4).fill(1) }]);
  const rows = [...merged.parent].map((parent, index) => ({
    name: merged.name[index] < 0 ? "" : merged.names[merged.name[index]].text,
    parent,
    total: merged.totalPs[index],
    longest: [merged.host[index], merged.longest[index]],
  }));
  expect(rows[0]).toMatchObject({ parent: -1, total: 323.5 });
  expect(rows.filter(({ name }) => name === "train")).toMatchObject([
    { parent: 0, total: 303.5, longest: [1, 1] },
  ]);
  expect(rows.filter(({ name }) => name === "matmul").map(({ total }) => total)).toEqual([40, 200]);
  expect(rows.filter(({ name }, index) => name === "" && index > 0)).toMatchObject([
    { total: 2.5 },
  ]);
  expect(mergeTrees([one])).toBe(one);
});

test("bottom up, nodes are as wide as their self time", () => {
  const tree = sampleTree(SAMPLE, "bottom_up");
  expect(tree.weightPs).toBe(tree.selfPs);
});

test.each([
  ["no root", { nodes: { ...callsJson(SAMPLE).nodes, parent: [0, 0, 0, 0, 0, 0, 0] } }],
  [
    "a child before its parent",
    { nodes: { ...callsJson(SAMPLE).nodes, parent: [-1, 2, 0, 2, 2, 2, 5] } },
  ],
  [
    "a name that is not there",
    { nodes: { ...callsJson(SAMPLE).nodes, name: [-1, 9, 0, 0, 0, 0, 0] } },
  ],
  ["a column that is too short", { nodes: { ...callsJson(SAMPLE).nodes, count: [1] } }],
  ["no nodes", { nodes: null }],
  ["names without tracks", { names: { text: ["a"], category: ["host"], track: [] } }],
])("an answer with %s is refused", (_, patch) => {
  expect(() => parseCalls({ ...callsJson(SAMPLE), ...patch })).toThrow();
});

test("a total that is not known is NaN", () => {
  const json = callsJson({ "…": { self: 3 } });
  const totals = [3, null];
  const { columns } = parseCalls({ ...json, nodes: { ...json.nodes, total_ps: totals } });
  expect([...columns.totalPs]).toEqual([3, Number.NaN]);
});
