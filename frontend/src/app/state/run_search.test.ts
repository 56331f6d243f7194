import { afterEach, expect, test, vi } from "vitest";
import { type Command, createRunSearch } from "./run_search";

afterEach(() => vi.unstubAllGlobals());

const HOSTS = Array.from({ length: 6 }, (_, index) => `h${index}`);

/** What is found, and what the server was asked for, where it gives these answers one by one. */
async function searched(query: string, answers: readonly object[]) {
  const asked: URLSearchParams[] = [];
  vi.stubGlobal(
    "fetch",
    vi.fn(async (address: string) => {
      asked.push(new URL(address, "http://here/").searchParams);
      return new Response(JSON.stringify(answers[asked.length - 1]));
    }),
  );
  const found: Command[] = [];
  const opened: unknown[] = [];
  const search = createRunSearch({
    run: "pod",
    tools: ["trace_viewer"],
    hosts: HOSTS,
    open: (tool, view) => opened.push([tool, view]),
  });
  await search(query, new AbortController().signal, (names) => found.push(...names));
  return { asked, found, opened };
}

const named = (...names: string[]) => names.map((name) => ({ name }));

test("events of all hosts are asked for at once", async () => {
  const { asked, found, opened } = await searched("gather", [
    { names: named("all gather", "gather rows"), unread: 0 },
  ]);
  expect(asked.map((parameters) => [parameters.get("q"), parameters.getAll("hosts")])).toEqual([
    ["gather", HOSTS],
  ]);
  expect(found.map(({ kind, name }) => [kind, name])).toEqual([
    ["Event", "all gather"],
    ["Event", "gather rows"],
  ]);
  found[0].run();
  expect(opened).toEqual([["trace_viewer", { q: "whole:all gather" }]]);
});

test("large hosts that are read later add their names, as long as there are some", async () => {
  const { asked, found } = await searched("a", [
    { names: named("a"), unread: 2 },
    { names: named("b", "a"), unread: 1 },
    { names: named("b", "c", "a"), unread: 1 },
  ]);
  expect(asked.length).toBe(3);
  expect(found.map(({ name }) => name)).toEqual(["a", "b", "c"]);
});

test("hosts are read only until there are names enough", async () => {
  const many = Array.from({ length: 30 }, (_, index) => `name ${index}`);
  const { asked, found } = await searched("name", [{ names: named(...many), unread: 1000 }]);
  expect(asked.length).toBe(1);
  expect(found.length).toBe(20);
});

test("nothing is asked for without a word, and a failure is none of the other kinds'", async () => {
  expect((await searched("  ", [])).asked).toEqual([]);
  expect((await searched("a", [{ error: 1 }, {}])).found).toEqual([]);
});
