import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import { ApiError } from "../../api/errors";
import { named, text, texts } from "../../widgets/dom.test_helper";
import { noted } from "../page.test_helper";
import {
  button,
  click,
  eachAnew,
  labels,
  model,
  press,
  query,
  said,
  show,
  type,
  wait,
} from "./panes.test_helper";
import { sampleTimelineJson } from "./protocol/sample.test_helper";
import { fakeServer, found, PLACE, Refusal } from "./protocol/server.test_helper";

eachAnew();

test("the parts of a host are one tree, names are text, and counts are on the screen", async () => {
  fakeServer();
  await show();
  expect(labels()).toEqual([
    "GPU 0",
    "Steps",
    "Stream #1(Compute)",
    "Host threads",
    "python",
    "<b>worker</b>",
  ]);
  expect(text(".trace-status")).toContain("42 events in the file40 indexed0 drawn");
  expect(document.querySelector(".trace-labels b")).toBeNull();
});

test("many hosts are strips first, and a click on the name opens one", async () => {
  fakeServer();
  await show({}, ["h0", "h1", "h2", "h3", "h4"]);
  expect(labels()).toEqual(["h0", "h1", "h2", "h3", "h4"]);
  const name = query('.trace-label[data-lane="h@h2"] .trace-label-name');
  act(() => {
    name.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
    dispatchEvent(new PointerEvent("pointerup"));
  });
  expect(labels().slice(2, 5)).toEqual(["h2", "GPU 0", "Steps"]);
});

test("tracks without events in view are one line, which a click opens", async () => {
  fakeServer({
    timeline_in_use: ({ part }) => ({ tracks: part === "events" ? [1] : [], counters: [] }),
  });
  await show();
  await wait(0);
  expect(labels()).toEqual(["GPU 0", "Host threads", "python", "1 track without events here"]);
  expect(text('.trace-label[data-lane="s/device:GPU:0@h0"]')).toContain("no events here");
  await click(query('.trace-label[data-lane="is/host:CPU@h0"] .trace-triangle'));
  expect(labels().slice(1)).toEqual([
    "Host threads",
    "python",
    "<b>worker</b>",
    "1 track without events here",
  ]);
  await click(query('.trace-label[data-lane="s/device:GPU:0@h0"] .trace-triangle'));
  expect(labels().slice(0, 3)).toEqual(["GPU 0", "Steps", "Stream #1(Compute)"]);
  await wait(260);
  expect(said.selected.fold).toBe("is/device:GPU:0@h0,is/host:CPU@h0");
});

test("a host that cannot be read is said, the others are shown", async () => {
  const server = fakeServer();
  const { timeline } = server.routes;
  server.routes.timeline = (parameters) => {
    if (parameters.host === "h1") return { nothing: true };
    return timeline(parameters);
  };
  await show({}, ["h0", "h1", "h2"]);
  expect(labels().filter((label) => label?.startsWith("h"))).toEqual(["h0", "h2"]);
  expect(said.warned.map((warning) => warning.message)).toEqual(["the timeline has no version"]);
});

test("folded hosts are drawn, though none of their events are", async () => {
  fakeServer();
  await show({}, ["h0", "h1"]);
  const drawn = async (entries: number, strips: number) => {
    act(() => {
      model().drawn.value = { entries, events: entries, strips };
    });
    return text(".trace-status");
  };
  expect(await drawn(0, 2)).toContain("indexed2 busy strips drawn");
  expect(await drawn(12, 1)).toContain("indexed12 drawn and 1 busy strip");
  expect(await drawn(12, 0)).toContain("indexed12 drawn22.4 ms");
});

test("a trace without events says so", async () => {
  const nothing = { events_in_file: 0, events: 0, sections: [], tracks: [], end_ps: 0 };
  fakeServer({ timeline: ({ part }) => sampleTimelineJson({ part, ...nothing }) });
  await show();
  expect(text(".message")).toContain("The trace has no events.");
  expect(document.querySelector(".trace")).toBeNull();
});

test("without any host the page says why, and tries again", async () => {
  const server = fakeServer({ timeline: () => ({}) });
  await show();
  expect(text("[role=alert]")).toContain("The response could not be understood");
  server.routes.timeline = fakeServer().routes.timeline;
  await click(button("Try again"));
  expect(labels()).toContain("python");
});

test("the tree is gone through with the keyboard", async () => {
  fakeServer();
  await show();
  const tree = query(".trace-labels");
  act(() => tree.focus());
  await press(tree, "ArrowLeft");
  expect(labels()).toEqual(["GPU 0", "Host threads", "python", "<b>worker</b>"]);
  await press(tree, "ArrowDown");
  await press(tree, "ArrowDown");
  expect(query('[aria-selected="true"].trace-label').getAttribute("aria-label")).toContain(
    "python",
  );
  await press(tree, "ArrowDown", { altKey: true });
  expect(labels().slice(2)).toEqual(["<b>worker</b>", "python"]);
  await press(tree, "p");
  expect(labels()[0]).toBe("python");
  await press(tree, "h");
  expect(labels()).not.toContain("python");
  await click(button("1 hidden track: show again"));
});

test("tracks are filtered by their names", async () => {
  fakeServer();
  await show();
  await type(query<HTMLInputElement>(".trace-lane-head input"), "stream");
  expect(labels()).toEqual(["GPU 0", "Stream #1(Compute)"]);
  await type(query<HTMLInputElement>(".trace-lane-head input"), "no such");
  expect(text(".trace-labels")).toBe("No track name contains “no such”.");
});

test("a search counts its hits, lists them, and goes through them", async () => {
  const hits = [PLACE, { ...PLACE, id: 8, start_ps: 45e9 }];
  fakeServer({
    timeline_search: ({ part, from_ps }) => {
      const ofPart = part === "events" ? hits : [];
      const kept = ofPart.filter((hit) => hit.start_ps + hit.duration_ps > Number(from_ps ?? 0));
      return found(kept);
    },
  });
  await show();
  const field = query<HTMLInputElement>(".trace-search input");
  await type(field, "mat");
  expect(text(".trace-count")).toBe("2 hits · 1 in view");
  await click(query(".trace-count"));
  expect(texts(".trace-panel .trace-row .name")).toEqual(["matmul", "matmul"]);
  await press(field, "Enter");
  expect(text('.trace-rows [aria-selected="true"]')).toContain("45 ms");
  await press(field, "Enter", { shiftKey: true });
  expect(text('.trace-rows [aria-selected="true"]')).toContain("5 ms");
  await click(button("Clear the search"));
  expect(text(".trace-panel")).toContain("No search yet.");
});

test("what is typed while a search begins stays in its field", async () => {
  fakeServer();
  await show();
  const field = query<HTMLInputElement>(".trace-search input");
  // Before the page is drawn again.
  const stop = model().search.subscribe((search) => {
    if (search?.text !== "mat") return;
    field.value = "matmul";
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await type(field, "mat");
  await wait(260);
  stop();
  expect(field.value).toBe("matmul");
  expect(model().search.value?.text).toBe("matmul");
});

test("the server says what is wrong with the pattern of a search, beside the field", async () => {
  fakeServer({
    timeline_search: () => {
      throw new Refusal(400, "bad_request", "missing )");
    },
  });
  await show();
  await click(button("Regular expression"));
  const field = query<HTMLInputElement>(".trace-search input");
  await type(field, "(");
  expect(text(".trace-search-error")).toBe("missing )");
  // No pattern in JavaScript, and one in RE2.
  const { asked } = fakeServer();
  await type(field, "(?i)mat");
  expect(asked.some(([, { q }]) => q === "(?i)mat")).toBe(true);
  expect(document.querySelector(".trace-search-error")).toBeNull();
});

test("the server says what is wrong with the pattern of the filter, beside the field", async () => {
  fakeServer();
  await show();
  // The document of the tests has no popovers: what opens it says so.
  const panel = query("[aria-label='Which events are drawn']");
  await act(() => {
    panel.dispatchEvent(Object.assign(new Event("beforetoggle"), { newState: "open" }));
  });
  const form = query(".trace-filter");
  await click(form.querySelector<HTMLElement>("[aria-label='Regular expression']"));
  const field = form.querySelector<HTMLInputElement>("input")!;
  await type(field, "(?i)mat(");
  expect(model().filter.value).toMatchObject({ name: "(?i)mat(", isRegex: true });
  expect(field.getAttribute("aria-invalid")).toBe("false");
  act(() => {
    model().filterError.value = new ApiError("bad_request", "missing )", "", 400);
  });
  expect(form.querySelector("[role=alert]")?.textContent).toBe("missing )");
  expect(field.getAttribute("aria-invalid")).toBe("true");
  expect(query(".trace-chip").title).toContain("refuses /(?i)mat(/");
});

test("the details of an event: its name, arguments, stack, flows and links", async () => {
  fakeServer({
    timeline_event: ({ id }) => ({
      ...PLACE,
      id: Number(id),
      full_name: "a/b/matmul",
      category: "Kernel",
      self_ps: 1e9,
      stack: [{ id: 3, name: "<i>outer</i>" }],
      step: { label: "train 3", id: 2 },
      stats: [{ key: "bytes", label: "Bytes", value: 4096, unit: "bytes", text: "" }],
      hlo: { module: "jit_f", instruction: "fusion.1", text: "%fusion.1 = f32[]" },
      source: "model.py:12",
      same_name: { count: 4, total_ps: 4e9, mean_ps: 1e9, min_ps: 5e8, max_ps: 2e9, others: 3 },
      links: [
        {
          tool: "kernel_stats",
          label: "Launches of this kernel",
          params: { "f.kernel_name": "=k" },
        },
      ],
    }),
    timeline_flows: () => ({
      flows: [{ kind: "launch", from: { ...PLACE, id: 99, name: "cuLaunch" }, to: PLACE }],
      total: 1,
    }),
  });
  await show({ event: "e7@h0", tab: "event" });
  expect(text(".trace-event-name")).toContain("a/b/matmul");
  expect(text(".trace-facts")).toContain("Start5 msDuration2.00 msSelf1.00 msCategoryKernel");
  expect(text(".trace-stats")).toBe("Bytes4.00 KiB");
  expect(texts(".trace-stack li")).toEqual(["<i>outer</i>", "matmul"]);
  expect(text(".trace-flows")).toContain("launched by cuLaunch");
  expect(texts(".trace-fold summary")).toEqual(["Full name", "HLO fusion.1 of jit_f", "Source "]);
  expect(document.querySelector(".trace-event i")).toBeNull();
  await click(named("a", "kernel_stats: launches of this kernel"));
  expect(noted.opened).toEqual([["kernel_stats", { "f.kernel_name": "=k" }]]);
  expect(document.body.textContent).toContain("3 more events with this name are of another kind");
  await click(button("List these events"));
  expect(query<HTMLInputElement>(".trace-search input").value).toBe("category:Kernel whole:matmul");
});

test("a range is added up, sorted by a click, and its rows mark their events", async () => {
  const column = (...values: number[]) => values;
  const server = fakeServer({
    timeline_aggregate: () => ({
      events: 5,
      busy_ps: 6e9,
      idle_ps: 2e9,
      rows: {
        key: ["b", "a"],
        category: ["Kernel", "Other"],
        count: column(2, 3),
        total_ps: column(6e9, 3e9),
        self_ps: column(4e9, 1e9),
        mean_ps: column(3e9, 1e9),
        min_ps: column(1e9, 1e8),
        max_ps: column(5e9, 2e9),
        share: column(0.8, 0.2),
      },
    }),
  });
  await show({ range: "10..18", range_tracks: "e0@h0", tab: "selection" });
  await wait(200);
  expect(text(".trace-sums")).toContain("5 events in 8.00 ms");
  expect(text(".trace-sums")).toContain("busy 6.00 ms (75.0 %), idle 2.00 ms");
  const first = () => texts(".trace-rows-body .name");
  expect(first()).toEqual(["b", "a"]);
  expect(server.asked.find(([route]) => route === "timeline_aggregate")?.[1]).toMatchObject({
    tracks: "0",
    from_ps: "10000000000",
    to_ps: "18000000000",
    by: "name",
  });
  await click([...document.querySelectorAll<HTMLElement>(".trace-sort")].at(2));
  expect(first()).toEqual(["a", "b"]);
  await click(query(".trace-rows-body .trace-row"));
  expect(query<HTMLInputElement>(".trace-search input").value).toBe("whole:a");
});

test("the hint on keys comes once", async () => {
  fakeServer();
  await show();
  expect(text(".trace-hint")).toContain("zoom");
  await click(button("Got it"));
  act(() => render(null, document.body));
  await show();
  expect(document.querySelector(".trace-hint")).toBeNull();
});

test("the filter of events says what it hides, and goes with one click", async () => {
  fakeServer();
  await show({ only: "mat", min_us: "5", category: "Kernel" });
  expect(text(".trace-chip")).toBe("“mat”, Kernel, ≥ 5.00 µs ✕");
  await click(query(".trace-chip"));
  expect(document.querySelector(".trace-chip")).toBeNull();
});
