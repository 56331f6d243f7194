import { expect, test } from "vitest";
import { PayloadError } from "../../../api/errors";
import { parseAggregate, parseEvent, parseFlows, parseMatchOverview, parseSearch } from "./answers";

const PLACE = { id: 7, name: "matmul", track: 1, row: 3, start_ps: 5e9, duration_ps: 2e6 };

test("hits come with their places, their cursor and counts by track", () => {
  const answer = parseSearch({
    count: 1200,
    types: 2,
    hits: [PLACE],
    cursor: "c1",
    tracks: { 1: 1000, 4: 200 },
    error: null,
  });
  expect(answer.hits[0]).toEqual({
    id: 7,
    name: "matmul",
    track: 1,
    row: 3,
    startPs: 5e9,
    durationPs: 2e6,
  });
  expect([answer.count, answer.types, answer.cursor]).toEqual([1200, 2, "c1"]);
  expect(answer.tracks.get(4)).toBe(200);
});

test("marks are begins and ends in turn", () => {
  const spans = [
    [1, 2],
    [5, 9],
  ];
  expect(parseMatchOverview({ rows: { 12: spans } }).get(12)).toEqual(Float64Array.of(1, 2, 5, 9));
});

test("details of an event that has nothing but its place", () => {
  expect(parseEvent(PLACE)).toMatchObject({
    name: "matmul",
    fullName: "matmul",
    selfPs: Number.NaN,
    stack: [],
    step: null,
    stats: [],
    hlo: null,
    source: null,
    sameName: null,
    links: [],
  });
});

test("links carry what the other page's address says, as texts", () => {
  const links = [
    { tool: "kernel_stats", label: "Kernels", params: { "f.kernel_name": "=k", n: 3 } },
  ];
  expect(parseEvent({ ...PLACE, links }).links[0].view).toEqual({ "f.kernel_name": "=k", n: "3" });
});

test("values of stats stay what they are, with a label", () => {
  const stats = [
    { key: "bytes", label: "", value: 4096, unit: "bytes", text: "" },
    { key: "blob", label: "Blob", value: { a: 1 }, unit: "", text: "<4 bytes>" },
  ];
  const parsed = parseEvent({ ...PLACE, stats }).stats;
  expect(parsed[0]).toEqual({ key: "bytes", label: "bytes", value: 4096, unit: "bytes", text: "" });
  expect(parsed[1]).toMatchObject({ label: "Blob", value: null, text: "<4 bytes>" });
});

test("flows say how many there are, listed or not", () => {
  const flow = { kind: "launch", from: PLACE, to: { ...PLACE, id: 8 } };
  expect(parseFlows({ flows: [flow], total: 700 })).toMatchObject({ total: 700 });
  expect(parseFlows({ flows: [flow] }).total).toBe(1);
});

test("columns of an aggregate are of one length", () => {
  const column = [1, 2];
  const rows = {
    key: ["a", "b"],
    category: ["Kernel"],
    count: column,
    total_ps: column,
    self_ps: column,
    mean_ps: column,
    min_ps: column,
    max_ps: column,
    share: column,
  };
  const aggregate = parseAggregate({ events: 3, busy_ps: 5, idle_ps: null, rows });
  expect(aggregate).toMatchObject({ events: 3, busyPs: 5, category: ["Kernel", ""] });
  expect(aggregate.idlePs).toBeNaN();
  expect(() => parseAggregate({ rows: { ...rows, share: [1] } })).toThrow(PayloadError);
});

test.each([
  ["search", () => parseSearch([])],
  ["hit without id", () => parseSearch({ hits: [{}] })],
  ["event", () => parseEvent(null)],
  ["flow without end", () => parseFlows({ flows: [{ kind: "x", from: PLACE }] })],
])("%s: another answer than the documented one is refused", (_, parse) => {
  expect(parse).toThrow(PayloadError);
});
