import { afterEach, expect, test, vi } from "vitest";
import { sampleDerivedJson, sampleTimelineJson } from "../protocol/sample.test_helper";
import { type FakeServer, fakeServer, Refusal } from "../protocol/server.test_helper";
import { createLoading, loadHosts } from "./load";
import { createPage, type Page } from "./page";
import type { LoadedHost } from "./show_hosts";

afterEach(() => vi.unstubAllGlobals());

const kept = () => new Map<string, LoadedHost>();

async function load(page: Page, hosts: readonly string[], known = kept()) {
  const loading = createLoading();
  let opened = 0;
  await loadHosts({
    page,
    hosts,
    loadedHosts: known,
    loading,
    opened: () => {
      opened++;
    },
    abort: new AbortController().signal,
  });
  return { loading, opened: () => opened };
}

const asked = (server: FakeServer, part: string) =>
  server.asked.filter(([route, parameters]) => route === "timeline" && parameters.part === part);

test("both parts come into the model, and the view opens on the median step", async () => {
  fakeServer();
  const page = createPage("r");
  const { loading, opened } = await load(page, ["h0"]);
  expect(page.model.hosts.value[0]).toMatchObject({ host: "h0", at: 0, offsetPs: 0 });
  expect(page.model.hosts.value[0].derived?.part).toBe("derived");
  expect(page.model.view.value).toEqual({ from: 38.8e9, to: 61.2e9 });
  expect([loading.isReady.value, loading.text.value, opened()]).toEqual([true, "", 1]);
});

test("what comes late does not move a view that the user has moved", async () => {
  let release = () => {};
  const late = new Promise<void>((done) => {
    release = done;
  });
  const server = fakeServer();
  const page = createPage("r");
  const real = globalThis.fetch;
  vi.stubGlobal("fetch", async (address: string, options: object) => {
    if (address.includes("part=derived")) await late;
    return real(address, options);
  });
  const done = load(page, ["h0"]);
  await new Promise((wait) => setTimeout(wait, 260));
  const { model } = page;
  expect(model.hosts.value[0].derived).toBeNull();
  model.height.value = 60;
  model.view.value = { from: 1e9, to: 2e9 };
  model.scrollTop.value = 46;
  const first = () => {
    const top = model.scrollTop.value;
    const lane = model.lanes.value.scrolled.find(({ top: from, height }) => from + height > top);
    return [lane?.key, (lane?.top ?? 0) - top];
  };
  const before = first();
  release();
  await done;
  expect(model.hosts.value[0].derived).not.toBeNull();
  expect(first()).toEqual(before);
  expect(model.view.value).toEqual({ from: 1e9, to: 2e9 });
  expect(asked(server, "derived")).toHaveLength(1);
});

test("another choice of hosts keeps what is known, the time on the screen and the selection", async () => {
  const server = fakeServer({
    timeline: ({ host, part }) => {
      // h1 began to record 10 ms before h0.
      const origin_ns = host === "h1" ? "1699999999990000000" : "1700000000000000000";
      const patch = { host, origin_ns };
      return part === "derived" ? sampleDerivedJson(patch) : sampleTimelineJson(patch);
    },
  });
  const page = createPage("r");
  const known = kept();
  await load(page, ["h0"], known);
  const { model } = page;
  const place = { row: 0, startPs: 20e9, durationPs: 1e9, name: "matmul" };
  model.selection.value = { host: 0, part: "events", id: 7, place };
  model.view.value = { from: 15e9, to: 25e9 };
  await load(page, ["h1", "h0"], known);
  expect(asked(server, "events").map(([, { host }]) => host)).toEqual(["h0", "h1"]);
  expect(model.hosts.value.map(({ host, offsetPs }) => [host, offsetPs])).toEqual([
    ["h1", 0],
    ["h0", 10e9],
  ]);
  expect(model.view.value).toEqual({ from: 25e9, to: 35e9 });
  expect(model.selection.value).toMatchObject({ host: 1, id: 7 });
  await load(page, ["h1"], known);
  expect(model.selection.value).toBeNull();
});

test("a part that cannot be derived is a warning, and the events are shown", async () => {
  fakeServer({
    timeline: ({ host, part }) => {
      if (part === "derived") throw new Refusal(500, "internal", "no steps");
      return sampleTimelineJson({
        host,
        unplaced: 3,
        warnings: [{ code: "dropped_events", message: "5 events were dropped", hint: "" }],
      });
    },
  });
  const page = createPage("r");
  const { loading } = await load(page, ["h0"]);
  expect(page.model.hosts.value).toHaveLength(1);
  expect(loading.warnings.value.map((warning) => [warning.host, warning.message])).toEqual([
    ["h0", "Steps and scopes could not be derived: no steps"],
    ["h0", "5 events were dropped"],
    ["h0", "3 events in the file are sums without a position in time"],
  ]);
});

test("when no host opens, the first reason is the page's", async () => {
  fakeServer({
    timeline: () => {
      throw new Refusal(422, "bad_trace", "this is not a trace");
    },
  });
  const { loading, opened } = await load(createPage("r"), ["h0", "h1"]);
  expect(loading.error.value).toMatchObject({ code: "bad_trace", message: "this is not a trace" });
  expect([opened(), loading.isReady.value]).toEqual([0, false]);
});
