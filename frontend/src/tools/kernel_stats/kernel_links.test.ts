import { expect, test } from "vitest";
import { sampleTable } from "../../widgets/table/sample.test_helper";
import { callsOf, kernelEvents, shapeEvents } from "./kernel_links";

test("kernels are distinguished by no more than it takes", () => {
  const table = sampleTable({
    kernel_name: ["relu", "gemm", "gemm", "gemm", "gemm"],
    op_name: ["r", "a", "b", "b", ""],
    grid_dim: ["1,1,1", "2,1,1", "2,1,1", "4,1,1", "2,1,1"],
    block_dim: ["32,1,1", "32,1,1", "32,1,1", "32,1,1", "32,1,1"],
    registers_per_thread: [8, 16, 16, null, 16],
    shmem_bytes: [0, 0, 512, null, 0],
  });
  expect([0, 1, 2, 3, 4].map((row) => kernelEvents(table, row)?.q)).toEqual([
    "kernel:relu",
    "kernel:gemm op:a",
    "kernel:gemm op:b launch:2,1,1/32,1,1/16/512",
    "kernel:gemm op:b launch:4,1,1/32,1,1//",
    "kernel:gemm op:",
  ]);
  expect([2, 4].map((row) => shapeEvents(table, row)?.q)).toEqual([
    "kernel:gemm launch:2,1,1/32,1,1/16/512",
    "kernel:gemm launch:2,1,1/32,1,1/16/0",
  ]);
  const chosen = { kernel: "gemm", op: "", launch: "2,1,1/32,1,1/16/0" };
  expect(callsOf(table, 4)).toEqual(chosen);
});

test("rows that differ in Tensor Cores alone are asked about apart", () => {
  const table = sampleTable({
    kernel_name: ["gemm", "gemm"],
    op_name: ["a", "a"],
    grid_dim: ["2,1,1", "2,1,1"],
    block_dim: ["32,1,1", "32,1,1"],
    is_op_tensor_core_eligible: [true, true],
    tensor_core_use: ["yes", "no"],
    driver_copy: ["", ""],
  });
  const row = { kernel: "gemm", op: "a", launch: "2,1,1/32,1,1//", eligible: "true", copy: "" };
  expect([callsOf(table, 0), callsOf(table, 1)]).toEqual([
    { ...row, use: "yes" },
    { ...row, use: "no" },
  ]);
});
