import { expect, test } from "vitest";
import { callName } from "../call_tree/call_tree";
import { SAMPLE, sampleTree } from "../call_tree/sample.test_helper";
import { searchCalls } from "../call_tree/search_calls";
import { type CallSort, callRows } from "./call_rows";

const TREE = sampleTree(SAMPLE);

function rows(patch: Partial<Parameters<typeof callRows>[1]> = {}, tree = TREE) {
  const shown = callRows(tree, {
    turned: new Set(),
    search: null,
    sort: "total",
    isDescending: true,
    ...patch,
  });
  return {
    ...shown,
    text: [...shown.nodes].map((node) => "  ".repeat(tree.depth[node] - 1) + callName(tree, node)),
  };
}

test("what takes a tenth of the time is open", () => {
  const { text, isOpen, keys } = rows();
  expect(text).toEqual(["train", "  forward", "    matmul", "  loss", "  Other calls", "k"]);
  expect([...isOpen]).toEqual([1, 1, 0, 0, 0, 0]);
  expect(rows({ turned: new Set([keys[0]]) }).text).toEqual(["train", "k"]);
  expect(rows({ sort: "self" }, sampleTree(SAMPLE, "bottom_up")).text).toEqual(["k", "train"]);
});

test.each<[CallSort, boolean, string[]]>([
  ["name", false, ["k", "train", "  forward", "    matmul", "  loss", "  Other calls"]],
  ["self", true, ["k", "train", "  loss", "  forward", "    matmul", "  Other calls"]],
  ["total", false, ["k", "train", "  Other calls", "  loss", "  forward", "    matmul"]],
])("siblings are sorted by %s", (sort, isDescending, text) => {
  expect(rows({ sort, isDescending }).text).toEqual(text);
});

test("a search shows what matches, what leads there and what is below", () => {
  const search = searchCalls(TREE, "FORW");
  expect(search).toMatchObject({ matches: 1, weightPs: 60 });
  expect(rows({ search }).text).toEqual(["train", "  forward"]);
  const { keys } = rows({ search });
  expect(rows({ search, turned: new Set([keys[1]]) }).text).toEqual([
    "train",
    "  forward",
    "    matmul",
  ]);
  expect(rows({ search: searchCalls(TREE, "nothing") }).text).toEqual([]);
  expect(searchCalls(TREE, "  ")).toBeNull();
});

test("time of matches within matches counts once", () => {
  const tree = sampleTree({ f: { self: 1, below: { g: { self: 2, below: { f: { self: 4 } } } } } });
  expect(searchCalls(tree, "f")).toMatchObject({ matches: 2, weightPs: 7 });
});
