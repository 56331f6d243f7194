import { expect, test } from "vitest";
import { tableJson } from "../../widgets/table/sample.test_helper";
import { parseKernelStats } from "./payload";

const TABLE = tableJson({
  kernel_name: ["gemm", "gemm", "relu", "odd"],
  tensor_core_use: ["yes", "yes", "no", "unknown"],
  occurrences: [2, 1, 5, 1],
  total_duration_us: [30, 30, 20, 100],
});

test("facts are sums over all rows; what is not known is not counted", () => {
  expect(parseKernelStats(TABLE).facts).toEqual({
    total: 180,
    launches: 9,
    tensorCoreShare: 0.75,
    unknownShare: 100 / 180,
    kernels: 3,
  });
});

test("a list of one table is that table", () => {
  expect(parseKernelStats([TABLE]).kernels).toEqual(["gemm", "relu", "odd"]);
});

test("where no row says anything of Tensor Cores, the share is not measured", () => {
  const columns = TABLE.columns.with(1, Array(4).fill("unknown"));
  expect(parseKernelStats({ ...TABLE, columns }).facts.tensorCoreShare).toBeNull();
});

test("the units have the vendor's name", () => {
  expect(parseKernelStats(TABLE).unit).toBe("Tensor Cores");
  const properties = { matrix_unit: "Matrix Cores" };
  expect(parseKernelStats({ ...TABLE, p: properties }).unit).toBe("Matrix Cores");
});
