import { expect, test } from "vitest";
import { parseKernelStats } from "./payload";

const TABLE = {
  cols: [
    { id: "kernel_name", label: "Kernel Name", type: "string" },
    { id: "is_kernel_using_tensor_core", label: "TC", type: "boolean" },
    { id: "occurrences", label: "Occurrences", type: "number" },
    { id: "total_duration_us", label: "Total", type: "number" },
  ],
  columns: [
    ["gemm", "gemm", "relu", "odd"],
    [true, true, false, null],
    [2, 1, 5, 1],
    [30, 30, 20, 100],
  ],
};

test("facts are sums over all rows; what is not known is not counted", () => {
  expect(parseKernelStats(TABLE).facts).toEqual({
    total: 180,
    launches: 9,
    tensorCoreShare: 0.75,
    kernels: 3,
  });
});

test("a list of one table is that table", () => {
  expect(parseKernelStats([TABLE]).kernels).toEqual(["gemm", "relu", "odd"]);
});

test("where no row says anything of Tensor Cores, the share is not measured", () => {
  const columns = TABLE.columns.with(1, [null, null, null, null]);
  expect(parseKernelStats({ ...TABLE, columns }).facts.tensorCoreShare).toBeNull();
});
