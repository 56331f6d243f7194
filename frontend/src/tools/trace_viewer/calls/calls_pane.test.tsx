import { expect, test } from "vitest";
import { text, texts } from "../../../widgets/dom.test_helper";
import { callsJson, SAMPLE } from "../call_tree/sample.test_helper";
import {
  button,
  click,
  eachAnew,
  model,
  press,
  query,
  said,
  show,
  type,
  wait,
} from "../panes.test_helper";
import { sampleTimelineJson, sampleTracks } from "../protocol/sample.test_helper";
import { fakeServer, PLACE, Refusal } from "../protocol/server.test_helper";

eachAnew();

const TREE = { tab: "calls", calls: "tree" };
const names = () => texts(".trace-rows-body .name");

async function showCalls(view: Readonly<Record<string, string>>, routes = {}) {
  const server = fakeServer({ timeline_calls: () => callsJson(SAMPLE), ...routes });
  await show(view);
  await until(() => query(".trace-panel .trace-sums, .trace-panel [role=alert]") !== null);
  return server;
}

/** However long the pane and answers take to come. */
async function until(isThere: () => boolean) {
  while (!isThere()) await wait(20);
}

test("the calls of a range are a tree, and a click leads to the longest call", async () => {
  const server = await showCalls({ ...TREE, range: "10..18", from_ms: "0", to_ms: "50" });
  expect(query("[role=treegrid]").getAttribute("aria-rowcount")).toBe("7");
  // There are only those that are in sight.
  expect(names()).toEqual(["train", "forward", "matmul", "loss"]);
  expect(server.asked.find(([route]) => route === "timeline_calls")?.[1]).toMatchObject({
    tracks: "0-2",
    from_ps: "10000000000",
    to_ps: "18000000000",
    order: "top_down",
  });
  expect(text(".trace-sums")).toContain("6 events in the 8.00 ms selected on 3 tracks");
  // The steps that are derived stand for what the stream shows.
  expect(text(".trace-sums")).toContain("1 derived track excluded");
  await click([...document.querySelectorAll<HTMLElement>(".trace-rows-body .trace-row")][2]);
  await until(() => model().selection.value !== null);
  const asked = server.asked.filter(([route]) => route === "timeline_event").map(([, of]) => of.id);
  expect(asked[0]).toBe("6");
  expect(model().selection.value).toMatchObject({ id: 6, part: "events" });
  expect(said.selected.tab ?? "calls").toBe("calls");
  expect(query("[role=tab][aria-selected=true]").textContent).toBe("Call tree");
});

test("the view stays where it is when a call within it is selected", async () => {
  const server = await showCalls({ ...TREE, from_ms: "6", to_ms: "50" });
  const before = model().view.value;
  await click(query(".trace-rows-body .trace-row"));
  await until(() => model().selection.value !== null);
  expect(model().selection.value?.place?.startPs).toBe(PLACE.start_ps);
  expect(model().view.value).toEqual(before);
  expect(server.asked.filter(([route]) => route === "timeline_calls")).toHaveLength(1);
});

test("arrow keys open and close what is below a call", async () => {
  await showCalls(TREE);
  const grid = query("[role=treegrid]");
  const rows = () => [...document.querySelectorAll(".trace-rows-body [role=row]")];
  expect(rows().map((row) => row.getAttribute("aria-level"))).toEqual(["1", "2", "3", "2"]);
  expect(rows()[0].getAttribute("aria-expanded")).toBe("true");
  expect(rows()[2].getAttribute("aria-expanded")).toBeNull();
  await press(grid, "ArrowDown");
  await press(grid, "ArrowLeft");
  expect(names()).toEqual(["train", "forward", "loss", "Other calls"]);
  await press(grid, "ArrowLeft");
  await press(grid, "ArrowLeft");
  expect(names()).toEqual(["train", "k"]);
  await press(grid, "ArrowRight");
  expect(names()).toEqual(["train", "forward", "loss", "Other calls"]);
});

test("a search says how much of the time it has found", async () => {
  await showCalls(TREE);
  await type(query<HTMLInputElement>(".trace-calls-search"), "matm");
  expect(names()).toEqual(["train", "forward", "matmul"]);
  expect(text(".trace-sums [role=status]")).toBe("1 match, 33.2 %");
});

test("the order and the tracks are asked for, and kept in the address", async () => {
  const server = await showCalls({ ...TREE, range: "10..18" });
  const box = (label: string) =>
    [...document.querySelectorAll("label")].find(
      (element) => element.textContent?.trim() === label,
    );
  await click(box("Bottom up")?.querySelector("input"));
  await click(box("By track")?.querySelector("input"));
  const calls = () => server.asked.filter(([route]) => route === "timeline_calls");
  await until(() => calls().at(-1)?.[1].by_track === "1");
  await until(() => said.selected.calls === "tree,bottom_up,by_track");
  expect(calls().at(-1)?.[1]).toMatchObject({
    order: "bottom_up",
    by_track: "1",
  });
});

test("tracks without a stack of calls are left out, and said to be", async () => {
  const [stream, python, worker] = sampleTracks();
  await showCalls(TREE, {
    timeline: ({ host, part }: Record<string, string>) =>
      sampleTimelineJson({ host, part, tracks: [{ ...stream, kind: "async" }, python, worker] }),
  });
  expect(text(".trace-sums")).toContain(
    "on 2 tracks, 3 derived tracks and 1 asynchronous track excluded",
  );
  expect(text(".trace-sums")).toContain("1 asynchronous track");
});

test("a flame graph is what it opens with; nothing and errors are said", async () => {
  await showCalls({ tab: "calls" });
  expect(query(".icicle").getAttribute("aria-label")).toBe("Flame graph, top down");
  await press(query(".icicle"), "ArrowDown");
  expect(text(".icicle [role=status]")).toBe(
    "train: total 101 ps (83.4 %), self 10 ps (8.3 %), 1 call",
  );
  await press(query(".icicle"), "Enter");
  expect(button("Show all calls")).toBeDefined();
  await click(button("Show all calls"));
  expect(button("Show all calls")).toBeUndefined();
});

test("a range without events says so", async () => {
  await showCalls({ tab: "calls" }, { timeline_calls: () => callsJson({}) });
  expect(text(".trace-panel")).toContain("There are no events in this range.");
});

test("an error is said with its way out", async () => {
  const fail = () => {
    throw new Refusal(400, "bad_request", "there is no track 9");
  };
  await showCalls({ tab: "calls" }, { timeline_calls: fail });
  expect(text("[role=alert]")).toContain("there is no track 9");
});
