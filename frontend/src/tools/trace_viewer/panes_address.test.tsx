import { expect, test } from "vitest";
import { text, texts } from "../../widgets/dom.test_helper";
import { button, click, eachAnew, labels, query, said, show, wait } from "./panes.test_helper";
import { sampleDerivedJson, sampleTimelineJson } from "./protocol/sample.test_helper";
import { fakeServer, found, PLACE } from "./protocol/server.test_helper";

const MS = 1e9;

eachAnew();

test("the view opens on the median step, and the address does not say so", async () => {
  fakeServer();
  await show();
  expect(text(".trace-status")).toContain("22.4 ms across");
  await wait(300);
  expect(said.selected.from_ms ?? null).toBeNull();
});

test("an address says what is shown", async () => {
  const server = fakeServer({
    timeline_search: () => found([PLACE]),
  });
  await show({ from_ms: "10", to_ms: "30", q: "mat", hide: "e1@h0", fold: "s/device:GPU:0@h0" });
  expect(text(".trace-status")).toContain("20.0 ms across");
  expect(labels()).toEqual(["GPU 0", "Host threads", "<b>worker</b>"]);
  expect(text(".trace-tab.current")).toBe("Search hits (2)");
  expect(server.asked.some(([route, { q }]) => route === "timeline_search" && q === "mat")).toBe(
    true,
  );
  expect(query<HTMLInputElement>(".trace-search input").value).toBe("mat");
});

test("an address beyond the trace shows the part within it, and says so until one moves", async () => {
  fakeServer();
  await show({ from_ms: "0", to_ms: "100000000" });
  expect(text(".trace-status")).toContain("110 ms across");
  expect(text(".trace-status")).toContain("The address extends beyond the trace");
  await click(button("All"));
  expect(text(".trace-status")).not.toContain("The address extends beyond the trace");
});

test("times count from the recording's start, as the address and other pages have them", async () => {
  const hits = [{ ...PLACE, id: 7, start_ps: 45e9 }];
  fakeServer({
    timeline: ({ part }) =>
      part === "events" ? sampleTimelineJson({ begin_ps: 30 * MS }) : sampleDerivedJson(),
    timeline_event: () => ({ ...hits[0], stats: [] }),
    timeline_search: ({ part }) => found(part === "events" ? hits : []),
  });
  await show({ from_ms: "40", to_ms: "50", event: "e7@h0", q: "matmul", tab: "event" });
  const fact = texts(".trace-facts div").find((text) => text?.startsWith("Start"));
  expect(fact).toBe("Start45 ms");
  await click(button("Search hits (1)"));
  expect(text(".trace-rows-body [role=gridcell]")).toBe("45 ms");
  const brush = query("[role=slider]");
  expect(brush.getAttribute("aria-valuetext")).toBe("10.0 ms of 100 ms, from 40 ms");
});

test("a link that searches goes to the first hit", async () => {
  const hit = { ...PLACE, id: 11, start_ps: 80e9 };
  fakeServer({
    timeline_search: ({ part }) => found(part === "events" ? [hit] : []),
  });
  await show({ q: "kernel:k" });
  expect(text('.trace-rows [aria-selected="true"]')).toContain("80 ms");
  expect(text(".trace-tab.current")).toBe("Search hits (1)");
  expect(text(".trace-count")).toBe("1 hit · 1 in view");
});

test("a link that searches in a range lists what is there, and all if asked to", async () => {
  const hits = [5e9, 45e9, 80e9].map((start_ps, id) => ({ ...PLACE, id, start_ps }));
  fakeServer({
    timeline_search: ({ part, from_ps, to_ps }) => {
      const inRange = hits.filter(
        ({ start_ps }) =>
          part === "events" && start_ps > Number(from_ps ?? 0) && start_ps < Number(to_ps ?? 1e15),
      );
      return found(inRange);
    },
  });
  await show({ from_ms: "40", to_ms: "50", q: "matmul" });
  expect(text(".trace-tab.current")).toBe("Search hits (3)");
  expect(text(".trace-panel .trace-note")).toContain("1 of 3 events, from 40 ms to 50 ms");
  expect(texts(".trace-rows-body [role=gridcell]:first-child")).toEqual(["45 ms"]);
  await click(button("List all 3"));
  expect(text(".trace-panel .trace-note")).toContain("3 events in time order");
  expect(texts(".trace-rows-body [role=gridcell]:first-child")).toHaveLength(3);
  await click(button("List those in view"));
  expect(text(".trace-panel .trace-note")).toContain("1 of 3 events");
});

test("what an address selects leaves the drawer as the address says", async () => {
  fakeServer();
  await show({ event: "e7@h0", range: "1..2", tab: "hits", q: "mat" });
  expect(text(".trace-tab.current")).toBe("Search hits (0)");
});

test("an address that names no tab opens what it is about", async () => {
  fakeServer();
  await show({ range: "1..2" });
  expect(text(".trace-tab.current")).toBe("Selection");
});

test("a range moves with the axis of other hosts, the drawer stays as it is", async () => {
  const server = fakeServer();
  const { timeline } = server.routes;
  server.routes.timeline = (parameters) => ({
    ...(timeline(parameters) as object),
    origin_ns: parameters.host === "h1" ? "1699999999000000000" : "1700000000000000000",
  });
  await show({ range: "1..2" });
  await click(button("Statistics"));
  await show({ range: "1..2" }, ["h0", "h1"]);
  expect(text(".trace-tab.current")).toBe("Statistics");
  await wait(300);
  expect(said.selected.range).toBe("1001..1002");
});

const STEP = { ...PLACE, name: "train 3" };

test("a step that a link names leaves the drawer as the link says", async () => {
  fakeServer({
    timeline_search: ({ part }) => found(part === "derived" ? [STEP] : []),
  });
  await show({ step: "train 3", tab: "statistics" });
  expect(text(".trace-tab.current")).toBe("Statistics");
});

test("a step of another page is looked up, selected and shown", async () => {
  const server = fakeServer({
    timeline_search: ({ part }) => found(part === "derived" ? [STEP] : []),
  });
  await show({ step: "train 3" });
  expect(server.asked.find(([route]) => route === "timeline_search")?.[1].q).toBe("whole:train 3");
  expect(text(".trace-status")).toContain("2.24 ms across");
  await wait(300);
  expect(said.selected).toMatchObject({ event: "d7@h0", step: null });
});
