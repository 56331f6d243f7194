import { expect, test } from "vitest";
import { numbers, textAt, texts } from "../../api/data_table";
import { parseHeap } from "./payload";
import { sampleHeap, sampleLive } from "./sample.test_helper";

test("programs have their names with ids, and what is not known of them is not zero", () => {
  const { programs, program } = parseHeap(sampleHeap());
  expect(programs.map(({ title }) => title)).toEqual([
    "jit_step(17)",
    "jit_step(1)",
    "jit_bare(9)",
  ]);
  expect(program).toBe(programs[0]);
  expect(programs[2]).toMatchObject({ hasRun: null, peak: Number.NaN });
});

test("rows of what is in memory have their texts, parts and padding", () => {
  const { table, instruction } = parseHeap(sampleHeap()).live;
  const column = (id: string) => [0, 1, 2, 3].map((row) => textAt(texts(table, id), row));
  expect(column("instruction")).toEqual(["x", "dot{1}", "norm", "out"]);
  expect(instruction).toEqual(["x", "dot", "norm", "out"]);
  expect(column("purpose")).toEqual(["Parameter, donated", "Temporary", "Temporary", "Output"]);
  expect(column("op")).toEqual(["", "jit(f)/dot", "", ""]);
  expect([...(numbers(table, "padding_bytes") ?? [])]).toEqual([0, 0, 512, 0]);
});

test("without padding, what is in use is its own line", () => {
  const timeline = { ...(sampleHeap().timeline as object), unpadded_bytes: null };
  const parsed = parseHeap(sampleHeap({ timeline })).timeline;
  expect(parsed.hasPadding).toBe(false);
  expect(parsed.unpadded).toBe(parsed.inUse);
});

test("a payload with a reason has nothing else", () => {
  const { programs, hosts } = sampleHeap();
  const heap = parseHeap({
    programs,
    hosts,
    chosen: -1,
    host: "",
    reason: "no",
    spaces: [],
    space: -1,
  });
  expect(heap.program).toBeNull();
  expect(heap.live.table.length).toBe(0);
  expect(heap.timeline.length).toBe(0);
});

test("what is not a payload, or has columns of unequal lengths, is said to", () => {
  expect(() => parseHeap({})).toThrow("list of programs is missing");
  expect(() => parseHeap(null)).toThrow("list of programs is missing");
  const live = sampleLive({ unpadded_bytes: [1] });
  expect(() => parseHeap(sampleHeap({ live }))).toThrow("1 values where there should be 4");
});
