import { afterEach, expect, test, vi } from "vitest";
import { dataParameters, fetchLogdir, fetchSession } from "./client";
import { ApiError, describeProblem } from "./errors";

afterEach(() => vi.unstubAllGlobals());

function answer(status: number, body: string) {
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response(body, { status })),
  );
}

test("hosts: none for all, one by name, several repeated", () => {
  const names = (hosts: readonly string[] | null) =>
    new URLSearchParams(
      dataParameters({ run: "r", tool: "t", hosts }).map((pair) => [...pair]),
    ).toString();
  expect(names(null)).toBe("run=r&tag=t&layout=columns");
  expect(names(["h,0"])).toBe("run=r&tag=t&host=h%2C0&layout=columns");
  expect(names(["a", "b,c"])).toBe("run=r&tag=t&hosts=a&hosts=b%2Cc&layout=columns");
});

test("parameters of the tool's own go as they are", () => {
  const options = { marker: "train & more" };
  const parameters = dataParameters({ run: "r", tool: "t", hosts: null, options });
  expect(parameters).toContainEqual(["marker", "train & more"]);
});

test("errors keep the words of the server", async () => {
  answer(422, JSON.stringify({ error: { code: "no_data", message: "why", hint: "way out" } }));
  const error = await fetchSession("r", new AbortController().signal).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(describeProblem(error)).toEqual({
    title: "Nothing to show",
    message: "why",
    hint: "way out",
    again: "Try again",
    isFailure: false,
  });
});

test("an answer that is not JSON is an error of its own", async () => {
  answer(502, "<html>");
  const error = await fetchSession("r", new AbortController().signal).catch((thrown) => thrown);
  expect(describeProblem(error).message).toMatch(/502/);
});

test("a logdir may be anything", async () => {
  answer(200, "[]");
  expect(await fetchLogdir(new AbortController().signal)).toMatchObject({ path: "", runs: [] });
});
