/** Answers of the timeline's routes for tests: one GPU with steps and a stream, one host thread. */
import type { Json } from "../../../api/json";
import { parseTimeline, type TimelineIndex } from "./payload";

const MS = 1e9;

/** Tracks one by one: `sampleTimelineJson` makes columns of them. */
export function sampleTracks(): Json[] {
  return [
    track(0, 0, "Stream #1(Compute)", "stream"),
    track(1, 1, "python", "thread"),
    track(2, 1, "<b>worker</b>", "thread"),
  ];
}

function track(id: number, section: number, name: string, kind: string): Json {
  const [busy_ps, begin_ps, end_ps] = [40 * MS, 0, 100 * MS];
  return { id, section, name, kind, rows: 2, events: 10, busy_ps, begin_ps, end_ps };
}

/** `patch` may have lists of tracks, and sections with the ids of theirs. */
export function sampleTimelineJson(patch: Json = {}): Json {
  const json = { ...sample(), ...patch };
  return {
    ...json,
    tracks: Array.isArray(json.tracks) ? trackColumns(json.tracks) : json.tracks,
    sections: (json.sections as Json[]).map(withRange),
  };
}

/** As the server sends tracks. */
function trackColumns(tracks: readonly Json[]): Json {
  const column = (key: string) => tracks.map((track) => track[key] ?? null);
  const kinds = [...new Set(column("kind"))];
  return {
    name: tracks.map((track) => track.name ?? ""),
    kinds,
    kind: tracks.map((track) => kinds.indexOf(track.kind ?? null)),
    rows: column("rows"),
    events: column("events"),
    derived: tracks.flatMap((track, id) => (track.derived ? [id] : [])),
    unit_ps: 1,
    busy: column("busy_ps"),
    begin: column("begin_ps"),
    end: column("end_ps"),
  };
}

function withRange({ tracks, ...section }: Json): Json {
  if (!Array.isArray(tracks)) return section;
  return { ...section, first_track: tracks[0] ?? 0, last_track: (tracks[0] ?? 0) + tracks.length };
}

function sample(): Json {
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
    tracks: sampleTracks(),
    counters: [],
    categories: [
      { name: "Kernel", meaning: "compute" },
      { name: "Other", meaning: "" },
    ],
    home: null,
  };
}

/** Steps of the same host, as the derived part brings them. */
export function sampleDerivedJson(patch: Json = {}): Json {
  const { sections } = sample() as { sections: Json[] };
  return sampleTimelineJson({
    part: "derived",
    events_in_file: 0,
    events: 5,
    sections: [{ ...sections[0], tracks: [0], events: 5 }],
    tracks: [{ ...track(0, 0, "Steps", "steps"), events: 5, derived: true, rows: 1 }],
    home: { from_ps: 40 * MS, to_ps: 60 * MS, label: "train 3" },
    ...patch,
  });
}

export function sampleTimeline(patch: Json = {}): TimelineIndex {
  return parseTimeline(sampleTimelineJson(patch));
}

export function sampleDerived(patch: Json = {}): TimelineIndex {
  return parseTimeline(sampleDerivedJson(patch));
}
