import { expect, test } from "vitest";
import { parseFilter } from "./filter";
import { familyFilter, foldNumbers } from "./name_folding";
import { sampleColumns } from "./sample.test_helper";

test("numbers in which names of a family differ are folded, those that they share stay", () => {
  expect(
    foldNumbers([
      "replica_0/bert_1/layer_1/dense/MatMul",
      "replica_1/bert_1/layer_12/dense/MatMul",
      "replica_0/bert_1/pooler/MatMul_1",
      "matmul",
      "matmul_6",
      "fusion.3",
      "fusion.12",
      "jit(f)/jvp(layer_0)/dot",
      "jit(f)/jvp(layer_1)/dot",
    ]),
  ).toEqual([
    "replica_*/bert_1/layer_*/dense/MatMul",
    "replica_*/bert_1/layer_*/dense/MatMul",
    "replica_0/bert_1/pooler/MatMul_1",
    "matmul_*",
    "matmul_*",
    "fusion.*",
    "fusion.*",
    "jit(f)/jvp(layer_*)/dot",
    "jit(f)/jvp(layer_*)/dot",
  ]);
});

test("the filter of a family passes its names and no others", () => {
  const names = [
    "a_0/jvp(layer_1)/mul",
    "a_1/jvp(layer_2)/mul",
    "a_1/jvp(layer_2)/mul/grad",
    "b/a_1/jvp(layer_2)/mul",
  ];
  const [column] = sampleColumns({ name: names }, { name: { isName: true } });
  const passes = (text: string) => {
    const filter = parseFilter(text, column)!;
    return [0, 1, 2, 3].filter((row) => filter.test?.(row));
  };
  const [family] = foldNumbers(names);
  expect(family).toBe("a_*/jvp(layer_*)/mul");
  expect(passes(familyFilter(family))).toEqual([0, 1]);
  expect(passes(familyFilter(names[2]))).toEqual([2]);
});
