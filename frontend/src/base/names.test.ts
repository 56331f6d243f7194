import { expect, test } from "vitest";
import { foldName, foldNames, nameScope, readableName } from "./names";

const EIGEN =
  "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<Eigen::TensorMap<int>, int> const, Eigen::GpuDevice>, long>(Eigen::TensorEvaluator<Eigen::TensorMap<int>>, long)";

test("short names stay", () => {
  expect(foldName("gemm<float>(int)")).toBe("gemm<float>(int)");
});

test("long names keep as much as fits a line", () => {
  expect(foldName(EIGEN)).toBe("EigenMetaKernel<… TensorEvaluator …>");
  expect(foldName(EIGEN.replaceAll("Eigen::TensorEvaluator", "Te"))).toBe(
    "void Eigen::internal::EigenMetaKernel<Te<…>, long>(Te<…>, long)",
  );
});

test("of an entry point the kernel that it runs stays, also where the name was cut off", () => {
  const problem = `ck_tile::Pipeline<${"std::bfloat16_t, ".repeat(20)}float>`;
  const kernel = (name: string) =>
    `void ck_tile::kentry<ck_tile::gfx950_t, 2, ck_tile::${name}<${problem}>, ck_tile::${name}<${problem}>::Kargs>(ck_tile::${name}<${problem}>`;
  expect(foldNames([kernel("FmhaFwdKernel"), kernel("FmhaBwdDQDKDVKernel")])).toEqual([
    "kentry<… FmhaFwdKernel …>",
    "kentry<… FmhaBwdDQDKDVKernel …>",
  ]);
});

test("operators and anonymous namespaces are not brackets", () => {
  const long = "x".repeat(100);
  expect(foldName(`(anonymous namespace)::A::operator()(${long})`)).toBe(
    "(anonymous namespace)::A::operator()(…)",
  );
  expect(foldName(`A::operator<<<${long}>()`)).toBe("A::operator<<<…>()");
});

test("unbalanced and huge names do no harm", () => {
  expect(foldName(`f<${"<".repeat(1_000_000)}`).length).toBeLessThan(100);
  expect(foldName(`f${")".repeat(5000)}`).length).toBeLessThan(5002);
  expect(readableName("a".repeat(1_000_000)).length).toBe(4097);
});

test("the scope of an op ends before its own name", () => {
  expect(nameScope("a/b/c/MatMul")).toBe("a/b/c");
  expect(nameScope("a/b/c/MatMul", 2)).toBe("a/b");
  expect(nameScope("MatMul")).toBe("");
});

test("names that fold alike show where they differ", () => {
  const kernel = (type: string, op: string) =>
    `void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<Eigen::TensorMap<${type}>, Eigen::internal::${op}<${type} const>>, Eigen::GpuDevice>, long>(Eigen::GpuDevice, long)`;
  expect(
    foldNames([kernel("float", "Cast"), kernel("half", "Cast"), kernel("half", "Sum"), "gemm"]),
  ).toEqual([
    "EigenMetaKernel<… float Cast …>",
    "EigenMetaKernel<… half Cast …>",
    "EigenMetaKernel<… half Sum …>",
    "gemm",
  ]);
});
