import { expect, test } from "vitest";
import { childrenOf } from "../../../widgets/icicle/weighted_tree";
import { parseProfile } from "../payload";
import { sampleJson, sampleProfile } from "../sample.test_helper";
import { findSummary } from "../summary";
import { findOp, GROUPINGS, makeOpTree, type OpTree } from "./op_tree";
import { scopeParts } from "./scope_parts";
import { nodeKey, treeRows } from "./tree_rows";

const PROFILE = sampleProfile();

/** [label, µs, children] */
type DrawnNode = readonly [label: string, us: number, children: readonly DrawnNode[]];

function drawn(tree: OpTree, node = 0): DrawnNode {
  const children = [...childrenOf(tree, node)].map((child) => drawn(tree, child));
  return [tree.label[node], tree.weightPs[node] / 1e6, children];
}

test("programs contain categories, equal ops, ops and their kernels", () => {
  expect(drawn(makeOpTree(PROFILE, "program", true))).toEqual([
    "All programs",
    120,
    [
      [
        "jit_f(7)",
        74,
        [
          [
            "fusion",
            70,
            [
              [
                "dot.1 and 1 identical",
                70,
                [
                  [
                    "dot.1",
                    50,
                    [
                      ["gemm", 40, []],
                      ["split", 8, []],
                      ["Shorter kernels", 2, []],
                    ],
                  ],
                  ["dot.2", 20, []],
                ],
              ],
            ],
          ],
          ["while", 4, [["while.3", 4, []]]],
        ],
      ],
      [
        "jit_g(8)",
        26,
        [
          [
            "copy",
            26,
            [
              ["copy.4", 16, []],
              ["25 shorter ops", 10, []],
            ],
          ],
        ],
      ],
      ["Idle", 20, []],
    ],
  ]);
});

test("by framework op and by source line, what has none is said to", () => {
  const [, , programs] = drawn(makeOpTree(PROFILE, "scope", false));
  const [f] = programs;
  expect(f[2].map(([label, us]) => [label, us])).toEqual([
    ["jit(f)", 70],
    ["while.3", 4],
  ]);
  expect(f[2][0][2].map(([label]) => label)).toEqual(["jvp(a/b)", "dot"]);
  const [, , files] = drawn(makeOpTree(PROFILE, "source", false));
  expect(files.map(([label, us]) => [label, us])).toEqual([
    ["/src/train.py", 70],
    ["No source line", 30],
  ]);
  expect(files[0][2][0][0]).toBe("train.py:12");
});

test("children add up to their parents in ps, in every grouping", () => {
  let seed = 1;
  const random = (most: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % most;
  };
  for (let run = 0; run < 20; run++) {
    const rows = Array.from({ length: 1 + random(40) }, (_, row) => ({
      program: `jit_f(${random(3)})`,
      name: `op.${row}`,
      category: ["fusion", "copy", "while"][random(3)],
      us: random(1000),
      group: random(2) > 0 ? "same" : undefined,
      scope: ["", "jit(f)/a/b:", "jit(f)/a"][random(3)],
      source: ["", "a.py:1", "a.py:2", "b.py"][random(4)],
      wasted: random(2) > 0 ? random(10) : undefined,
    }));
    const profile = sampleProfile(rows);
    const whole = rows.reduce((sum, { us }) => sum + us, 0);
    for (const grouping of GROUPINGS) {
      for (const hasIdle of [false, true]) {
        const tree = makeOpTree(profile, grouping, hasIdle);
        expect(tree.weightPs[0]).toBe((whole + (hasIdle ? 20 : 0)) * 1e6);
        for (const node of tree.parent.keys()) {
          const below = childrenOf(tree, node);
          if (below.length === 0) continue;
          expect(below.reduce((sum, child) => sum + tree.weightPs[child], 0)).toBe(
            tree.weightPs[node],
          );
        }
        expect(tree.kind.filter((kind) => kind === "op")).toHaveLength(rows.length);
      }
    }
  }
});

test("shares and wasted time of what is known add up, loops apart", () => {
  const tree = makeOpTree(PROFILE, "program", false);
  const program = tree.label.indexOf("jit_f(7)");
  expect(tree.wastedPs[program]).toBe(35e6);
  expect(tree.unknownPs[program]).toBe(4e6);
  // 20 and 15 µs at the peak of 70 µs: the loop's own work is that of its body.
  expect(tree.flopShare[program]).toBeCloseTo(0.5);
  expect(tree.wastedPs[tree.label.indexOf("while")]).toBeNaN();
  expect(tree.flopShare[tree.label.indexOf("dot.1")]).toBeCloseTo(0.4);
});

test("the table has most wasted time first, what is not known and not loaded last", () => {
  const tree = makeOpTree(PROFILE, "program", true);
  const shown = (sort: "wasted" | "time" | "name", turned: string[] = [], isDescending = true) =>
    [...treeRows(tree, { turned: new Set(turned), sort, isDescending }).nodes].map(
      (node) => tree.label[node],
    );
  expect(shown("wasted")).toEqual([
    "jit_f(7)", "fusion", "dot.1 and 1 identical", "dot.1", "dot.2", "while",
    "jit_g(8)", "copy", "copy.4", "25 shorter ops", "Idle",
  ]); // biome-ignore format: rows of the table
  const f = nodeKey(tree, tree.label.indexOf("jit_f(7)"));
  expect(shown("wasted", [f]).slice(0, 2)).toEqual(["jit_f(7)", "jit_g(8)"]);
  expect(shown("name", [f], false)[0]).toBe("jit_f(7)");
  expect(shown("name", [f], true)[0]).toBe("jit_g(8)");
  expect(shown("time").at(-1)).toBe("Idle");
});

test("an op is found by its program's id and its name", () => {
  const tree = makeOpTree(PROFILE, "category", false);
  expect(tree.label[findOp(tree, PROFILE, "7", "dot.2")]).toBe("dot.2");
  expect(findOp(tree, PROFILE, "8", "dot.2")).toBe(-1);
  const byProgram = makeOpTree(PROFILE, "program", false);
  expect(byProgram.label[findOp(byProgram, PROFILE, "8", "")]).toBe("jit_g(8)");
  expect(findOp(byProgram, PROFILE, "9", "")).toBe(-1);
});

test("the summary names the largest program, its share of a peak, and the waste", () => {
  const { program, share, used, bound, wasted, unknown, whole } = findSummary(PROFILE);
  expect([program, share, bound]).toEqual(["jit_f(7)", 0.74, "the peak FLOP rate"]);
  expect(used).toBeCloseTo(0.5);
  expect([wasted, unknown, whole]).toEqual([59e6, 4e6, 100e6]);
  const nothing = findSummary(sampleProfile([]));
  expect([nothing.program, nothing.wasted]).toEqual(["No program", Number.NaN]);
});

test("scopes are cut outside of brackets", () => {
  expect(scopeParts("jit(f)/jvp(a/b,c->d)/dot:Type")).toEqual(["jit(f)", "jvp(a/b,c->d)", "dot"]);
  expect(scopeParts("a/)b//c")).toEqual(["a", ")b", "c"]);
  expect(scopeParts("")).toEqual([]);
});

test("payloads that are not profiles are refused, and unknown places are not texts", () => {
  expect(() => parseProfile([])).toThrow("not an object");
  const odd = sampleJson();
  const rows = odd.rows as Record<string, unknown[]>;
  rows.name = [99, -5, "x", 1.5, null];
  expect([...parseProfile(odd).rows.name]).toEqual([-1, -1, -1, -1, -1]);
  rows.name = [1];
  expect(() => parseProfile(odd)).toThrow("1 values where there should be 5");
});
