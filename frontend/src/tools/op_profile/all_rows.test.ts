import { expect, test } from "vitest";
import { fetchAllRows } from "./all_rows";
import { textOf } from "./payload";
import { ROWS, sampleJson } from "./sample.test_helper";

test("parts are put together: texts are the same once more, and kernels stay with their rows", async () => {
  // Other rows come first, so that the same texts are elsewhere.
  const parts = [
    [ROWS[3], ROWS[2]],
    [ROWS[1], ROWS[0]],
  ].map((rows) => sampleJson(rows));
  const asked: unknown[] = [];
  const whole = await fetchAllRows(async (parameters) => {
    asked.push(parameters);
    return { ...parts[asked.length - 1], instructions: 4 };
  }, new AbortController().signal);
  expect(asked).toEqual([{ rows: "0" }, { rows: "2" }]);
  const { rows, kernels, texts } = whole;
  const written = (column: Int32Array) => [...column].map((at) => textOf(whole, at));
  expect(written(rows.name)).toEqual(["copy.4", "while.3", "dot.2", "dot.1"]);
  expect(written(rows.program)).toEqual(["jit_g(8)", "jit_f(7)", "jit_f(7)", "jit_f(7)"]);
  expect(new Set(texts).size).toBe(texts.length);
  expect([...rows.selfPs]).toEqual([16e6, 4e6, 20e6, 50e6]);
  expect([...kernels.place]).toEqual([3, 3]);
  expect(written(kernels.name)).toEqual(["gemm", "split"]);
});
