import { expect, test } from "vitest";
import { PayloadError } from "../../../api/errors";
import { parseBusy, parseCounters, parseTimeline } from "./payload";
import { sampleTimelineJson } from "./sample.test_helper";

test("a timeline has its span, sections and tracks", () => {
  const index = parseTimeline(sampleTimelineJson());
  expect(index).toMatchObject({ host: "h0", part: "events", endPs: 1e11, eventsInFile: 42 });
  expect(index.originNs).toBe(1_700_000_000_000_000_000n);
  expect(index.sections.map((section) => section.label)).toEqual(["GPU 0", "Host threads"]);
  expect(index.tracks[1]).toMatchObject({ name: "python", row: 2, rows: 2, isDerived: false });
  expect(index.initialWindow).toBeNull();
});

test("tracks come as columns: rows follow one another, times count a unit", () => {
  const index = parseTimeline({
    ...sampleTimelineJson(),
    sections: [
      { id: 0, first_track: 0, last_track: 2 },
      { id: 1, first_track: 2, last_track: 3 },
    ],
    tracks: {
      name: ["a", "b", "c"],
      kinds: ["steps", "thread"],
      kind: [1, 0, 1],
      rows: [3, 1, 2],
      events: [5, 0, 1],
      derived: [1],
      unit_ps: 1000,
      busy: [4, 0, 1],
      begin: [7, null, 0],
      end: [20, null, 1],
    },
  });
  expect(index.sections.map((section) => section.tracks)).toEqual([[0, 1], [2]]);
  expect(index.tracks[0]).toMatchObject({ id: 0, section: 0, kind: "thread", row: 0, busyPs: 4e3 });
  expect(index.tracks[0]).toMatchObject({ beginPs: 7e3, endPs: 2e4, isDerived: false });
  expect(index.tracks[1]).toMatchObject({ row: 3, kind: "steps", isDerived: true });
  expect(index.tracks[1].beginPs).toBeNaN();
  expect(index.tracks[2]).toMatchObject({ section: 1, row: 4, rows: 2, endPs: 1e3 });
});

test.each([
  [null, /not an object/],
  [{ version: "" }, /no version/],
  [{ end_ps: -1 }, /no span/],
  [{ begin_ps: null }, /no span/],
  [{ sections: [{ id: 4 }] }, /not numbered/],
  [{ tracks: "many" }, /not an object/],
  [{ tracks: { name: ["a", "b"], kinds: ["stream"], kind: [0] } }, /differ in length/],
])("%j is not a timeline", (patch, message) => {
  const json = patch === null ? null : sampleTimelineJson(patch);
  expect(() => parseTimeline(json)).toThrow(PayloadError);
  expect(() => parseTimeline(json)).toThrow(message);
});

test("what is not measured is NaN, and what counts nothing is zero", () => {
  const index = parseTimeline(
    sampleTimelineJson({ tracks: [{ id: 0, busy_ps: null, events: null }], sections: [] }),
  );
  expect(index.tracks[0]).toMatchObject({ events: 0, rows: 1, busyPs: Number.NaN });
});

test("counters come as columns of one length", () => {
  const points = { time_ps: [1, 2], min: [0, 1], max: [2, 3], last: [1, 2] };
  expect(parseCounters({ counters: { 3: points } }).get(3)?.max).toEqual(Float64Array.of(2, 3));
  expect(() => parseCounters({ counters: { 3: { ...points, max: [] } } })).toThrow(PayloadError);
});

test("busy shares are by section", () => {
  const busy = parseBusy({ sections: { 0: [0, 0.5], 2: [1] } });
  expect([...busy.keys()]).toEqual([0, 2]);
  expect(busy.get(0)).toEqual(Float32Array.of(0, 0.5));
});
