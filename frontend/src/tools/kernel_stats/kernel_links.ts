/** Links to kernel launches in the trace viewer, and selections of them for the server. */
import { type DataTable, findColumn, numbers, textAt, texts } from "../../api/data_table";
import type { View } from "../../base/url_state";
import { marking } from "../links/trace_links";

/** The launches counted by a row of the kernel table, as a query that is as short as possible. */
export function kernelEvents(table: DataTable, row: number): View | null {
  const kernels = texts(table, "kernel_name");
  const ops = texts(table, "op_name");
  const name = textAt(kernels, row);
  if (!kernels || name === "") return null;
  const same = others(kernels.codes, row);
  const ofOp = same.length === 0 ? "" : ` op:${textAt(ops, row)}`;
  const isOneOp = same.every((other) => ops?.codes[other] !== ops?.codes[row]);
  return marking(`kernel:${name}${ofOp}${isOneOp ? "" : ` launch:${launchOf(table, row)}`}`);
}

/** All launches of the kernel that these rows have in common; null if they differ. */
export function launchesOf(table: DataTable, rows: Uint32Array): View | null {
  const kernels = texts(table, "kernel_name");
  const isOne = kernels && rows.every((row) => kernels.codes[row] === kernels.codes[rows[0]]);
  return isOne ? marking(`kernel:${textAt(kernels, rows[0])}`) : null;
}

/** The launches of a row's kernel with the row's launch shape, by any op. */
export function shapeEvents(table: DataTable, row: number): View | null {
  const { kernel, launch } = callsOf(table, row);
  return kernel === "" ? null : marking(`kernel:${kernel} launch:${launch}`);
}

/** All fields that identify a row, with the server's names. */
export function callsOf(table: DataTable, row: number) {
  const text = (id: string) => textAt(texts(table, id), row);
  const eligible = findColumn(table, "is_op_tensor_core_eligible");
  return {
    kernel: text("kernel_name"),
    op: text("op_name"),
    launch: launchOf(table, row),
    ...(eligible?.kind === "flag" && { eligible: String(eligible.values[row] === 1) }),
    ...(texts(table, "tensor_core_use") && { use: text("tensor_core_use") }),
    ...(texts(table, "driver_copy") && { copy: text("driver_copy") }),
  };
}

/** The other rows with the same code. */
function others(codes: Int32Array, row: number): number[] {
  const rows: number[] = [];
  codes.forEach((code, other) => {
    if (other !== row && code === codes[row]) rows.push(other);
  });
  return rows;
}

/** "grid/block/registers/shared bytes"; the last two are empty if they were not recorded. */
function launchOf(table: DataTable, row: number): string {
  const size = (id: string) => {
    const value = numbers(table, id)?.[row] ?? Number.NaN;
    return Number.isNaN(value) ? "" : String(value);
  };
  return [
    textAt(texts(table, "grid_dim"), row),
    textAt(texts(table, "block_dim"), row),
    size("registers_per_thread"),
    size("shmem_bytes"),
  ].join("/");
}
