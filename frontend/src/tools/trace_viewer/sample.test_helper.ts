/** Answers of the timeline's routes for tests: one GPU with steps and a stream, one host thread. */
import { parseTimeline, type TimelineIndex } from "./payload";

type Json = Record<string, unknown>;

const MS = 1e9;

export function sampleTimelineJson(patch: Json = {}): Json {
  const track = (id: number, section: number, name: string, kind: string, more: Json = {}) => ({
    id,
    section,
    name,
    kind,
    row: id * 2,
    rows: 2,
    events: 10,
    busy_ps: 40 * MS,
    begin_ps: 0,
    end_ps: 100 * MS,
    derived: false,
    ...more,
  });
  return {
    version: "v1",
    host: "h0",
    part: "events",
    origin_ns: "1700000000000000000",
    begin_ps: 0,
    end_ps: 100 * MS,
    events_in_file: 42,
    events: 40,
    unplaced: 0,
    warnings: [],
    max_level: 28,
    sections: [
      {
        id: 0,
        name: "/device:GPU:0",
        label: "GPU 0",
        kind: "device",
        tracks: [0],
        events: 10,
        busy_ps: 62 * MS,
      },
      {
        id: 1,
        name: "/host:CPU",
        label: "Host threads",
        kind: "host",
        tracks: [1, 2],
        events: 30,
        busy_ps: 90 * MS,
      },
    ],
    tracks: [
      track(0, 0, "Stream #1(Compute)", "stream"),
      track(1, 1, "python", "thread"),
      track(2, 1, "<b>worker</b>", "thread"),
    ],
    counters: [],
    categories: [
      { name: "Kernel", meaning: "compute" },
      { name: "Other", meaning: "" },
    ],
    home: null,
    ...patch,
  };
}

/** Steps of the same host, as the derived part brings them. */
export function sampleDerivedJson(patch: Json = {}): Json {
  const json = sampleTimelineJson();
  const [section] = json.sections as Json[];
  const [track] = json.tracks as Json[];
  return {
    ...json,
    part: "derived",
    events_in_file: 0,
    events: 5,
    sections: [{ ...section, tracks: [0], events: 5 }],
    tracks: [{ ...track, name: "Steps", kind: "steps", events: 5, derived: true, rows: 1 }],
    home: { from_ps: 40 * MS, to_ps: 60 * MS, label: "train 3" },
    ...patch,
  };
}

export function sampleTimeline(patch: Json = {}): TimelineIndex {
  return parseTimeline(sampleTimelineJson(patch));
}

export function sampleDerived(patch: Json = {}): TimelineIndex {
  return parseTimeline(sampleDerivedJson(patch));
}
