import { expect, test } from "vitest";
import { sampleColumns } from "../../widgets/table/sample.test_helper";
import { defaultKernelGrouping } from "./groupings";

const COLUMNS = sampleColumns({ kernel_name: ["gemm", "relu", "gemm"], op_name: ["a", "b", "c"] });
const usual = (...rows: number[]) => defaultKernelGrouping(COLUMNS, Uint32Array.from(rows));

test("kernels with several rows are grouped by name, others are not", () => {
  expect(usual(0, 1, 2)).toBe("kernel");
  expect(usual(0, 1)).toBeNull();
  expect(usual()).toBeNull();
});
