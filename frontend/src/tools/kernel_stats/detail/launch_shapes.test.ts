import { expect, test } from "vitest";
import { sampleTable } from "../../../widgets/table/sample.test_helper";
import { launchShapes } from "./launch_shapes";

const TABLE = sampleTable({
  block_dim: ["256,1,1", "256,1,1", "128,1,1", "128,1,1"],
  grid_dim: ["8,1,1", "8,1,1", "4,1,1", "4,1,1"],
  registers_per_thread: [32, 32, null, null],
  shmem_bytes: [0, 0, 512, 512],
  occupancy_pct: [50, 50, null, null],
  occurrences: [1, 1, 1, 4],
  total_duration_us: [10, 20, 60, 40],
});
const ROWS = Uint32Array.of(0, 1, 2, 3);

test("rows of one launch shape add up, the one with the most time comes first", () => {
  const [first, second] = launchShapes(TABLE, ROWS);
  expect(first).toEqual({
    block: "128,1,1",
    grid: "4,1,1",
    registers: Number.NaN,
    sharedBytes: 512,
    occupancy: Number.NaN,
    launches: 5,
    total: 100,
    row: 2,
  });
  expect(second).toMatchObject({ registers: 32, occupancy: 50, launches: 2, total: 30, row: 0 });
});
