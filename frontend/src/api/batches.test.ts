import { afterEach, expect, test, vi } from "vitest";
import { fetchInBatches } from "./batches";

afterEach(() => vi.unstubAllGlobals());

const REQUEST = { run: "r", tool: "hlo_stats", hosts: null };
const HEADS = ["name", "kind", "self", "total"].map((id) => ({ id, label: id, type: "string" }));
const WHOLE = {
  cols: HEADS,
  columns: [
    ["a", "b", "c"],
    ["dot", "dot", "add"],
    [3, null, 1],
    [3, null, 2],
  ],
  all_rows: 3,
  first_row: 0,
};
const FIRST = {
  cols: HEADS,
  columns: [["a", "b"], { texts: ["dot"], codes: [0, 0] }, [3, null], { same_as: "self" }],
  first_row: 0,
  all_rows: 3,
};
const SECOND = { cols: HEADS, columns: [["c"], ["add"], [1], [2]], first_row: 2, all_rows: 3 };

/** What is fetched from a server with these answers: all of it, what was shown, the first rows. */
async function fetchFrom(...answers: readonly unknown[]) {
  const asked: (string | null)[] = [];
  vi.stubGlobal("fetch", async (address: string) => {
    asked.push(new URLSearchParams(address.split("?")[1]).get("first_row"));
    return new Response(JSON.stringify(answers[asked.length - 1]));
  });
  const shown: unknown[] = [];
  const whole = await fetchInBatches(REQUEST, new AbortController().signal, async (json) => {
    shown.push(json);
  });
  return { asked, shown, whole };
}

test("batches are one table, of which the first is shown at once", async () => {
  const { asked, shown, whole } = await fetchFrom(FIRST, SECOND);
  expect(asked).toEqual(["0", "2"]);
  expect(whole).toEqual(WHOLE);
  expect(shown).toEqual([
    {
      ...FIRST,
      columns: [
        ["a", "b"],
        ["dot", "dot"],
        [3, null],
        [3, null],
      ],
    },
  ]);
});

test("of a list, the first table comes in batches", async () => {
  const peaks = { cols: [], columns: [] };
  const { whole } = await fetchFrom([FIRST, peaks], [SECOND, peaks]);
  expect(whole).toEqual([WHOLE, peaks]);
});

test("a single batch is the whole table", async () => {
  const only = { ...FIRST, all_rows: 2 };
  const { asked, shown } = await fetchFrom(only);
  expect(asked).toEqual(["0"]);
  expect(shown).toEqual([]);
});

test("a table without rows, and one that ends early, end", async () => {
  const empty = { cols: HEADS, columns: [[], [], [], []], first_row: 0, all_rows: 0 };
  expect((await fetchFrom(empty)).whole).toEqual(empty);
  const none = { ...empty, first_row: 2, all_rows: 3 };
  expect((await fetchFrom(FIRST, none)).asked).toEqual(["0", "2"]);
});
