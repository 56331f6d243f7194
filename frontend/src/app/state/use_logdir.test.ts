import { expect, test } from "vitest";
import { bytes, milliseconds } from "../../base/units";
import { newestFirst } from "./use_logdir";

const run = (name: string, modified: number) => ({
  name,
  hosts: 1,
  bytes: bytes(1),
  modified: milliseconds(modified),
});

test("time stamps order runs, then the time of their files, then names", () => {
  const runs = [
    run("a/2026_01_01_00_00_00", 9),
    run("b/2026_02_01_00_00_00", 1),
    run("x", 5),
    run("y", 5),
  ];
  expect(newestFirst(runs.slice(0, 2)).map(({ name }) => name[0])).toEqual(["b", "a"]);
  expect(newestFirst(runs.slice(2)).map(({ name }) => name)).toEqual(["y", "x"]);
});
