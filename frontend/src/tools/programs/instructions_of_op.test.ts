import { expect, test } from "vitest";
import { instructionsOfOp } from "./instructions_of_op";

/** The names of framework ops in the table of instructions that the filter leaves. */
function left(op: string, names: readonly string[]): readonly string[] {
  const filter = instructionsOfOp(op)?.["f.tf_op_name"] ?? "";
  const pattern = new RegExp(filter.slice(1, filter.lastIndexOf("/")), "i");
  return names.filter((name) => pattern.test(name));
}

test("an op of JAX leaves the instructions of its name, with its type or without", () => {
  const names = ["jit(f)/jvp(a.b)/add:", "jit(f)/jvp(a.b)/add:Add", "jit(f)/jvp(a.b)/add_any:"];
  expect(left("jit(f)/jvp(a.b)/add", names)).toEqual(names.slice(0, 2));
  expect(left("jit(f)/jvp(axb)/add", names)).toEqual([]);
});

test("where a function's name tells several apart, its place is left out", () => {
  expect(left("jit(f, train.py line 3)/add", ["jit(f)/add:", "jit(g)/add:"])).toEqual([
    "jit(f)/add:",
  ]);
});

test("an instruction without an op is named itself", () => {
  expect(instructionsOfOp("copy-done.4")).toEqual({
    "f.hlo_op_name": "=copy-done.4",
    filters: "1",
  });
});

test("other ops, and names too long for a filter, lead nowhere", () => {
  for (const op of ["model/dense/MatMul", "MatMul", "IDLE", "", `jit(f)/${"a".repeat(500)}`])
    expect(instructionsOfOp(op)).toBeNull();
});
