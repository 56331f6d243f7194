/** What the server answers to questions about events: search, details, flows, aggregates. */
import { PayloadError } from "../../../api/errors";
import type { View } from "../../../base/url_state";
import { count, integers, list, number, numbers, record, records, text, texts } from "./json";
import type { Part } from "./payload";

/** One event where it lies. */
export interface EventAt {
  readonly id: number;
  readonly name: string;
  readonly track: number;
  readonly row: number;
  readonly startPs: number;
  readonly durationPs: number;
}

export interface SearchAnswer {
  /** Events that match. */
  readonly count: number;
  /** Different names among them. */
  readonly types: number;
  /** In time order. */
  readonly hits: readonly EventAt[];
  /** Asks for what follows, "" at the end. */
  readonly cursor: string;
  /** Matches by the track's id. */
  readonly tracks: ReadonlyMap<number, number>;
}

/** Throws PayloadError. */
export function parseSearch(json: unknown): SearchAnswer {
  const answer = record(json, "the search");
  const tracks = record(answer.tracks ?? {}, "the tracks of the search");
  return {
    count: count(answer.count),
    types: count(answer.types),
    hits: records(answer.hits).map(parsePlace),
    cursor: text(answer.cursor),
    tracks: new Map(Object.entries(tracks).map(([id, hits]) => [Number(id), count(hits)])),
  };
}

/** Where hits lie, by row: begin and end of each, in turn. */
export function parseMatchOverview(json: unknown): ReadonlyMap<number, Float64Array> {
  const rows = record(record(json, "the marks").rows, "the marks");
  return new Map(
    Object.entries(rows).map(([row, spans]) => [
      Number(row),
      Float64Array.from(
        list(spans).flatMap((span) => [number(list(span)[0]), number(list(span)[1])]),
      ),
    ]),
  );
}

export interface EventDetails extends EventAt {
  readonly fullName: string;
  readonly category: string;
  readonly depth: number;
  /** NaN where it is not known. */
  readonly selfPs: number;
  /** The events that enclose it, the outermost first. */
  readonly stack: readonly { readonly id: number; readonly name: string }[];
  readonly step: { readonly label: string; readonly id: number; readonly part: Part } | null;
  readonly stats: readonly EventStat[];
  readonly hlo: {
    readonly module: string;
    readonly instruction: string;
    readonly text: string;
  } | null;
  readonly source: string | null;
  readonly sameName: SameNameEvents | null;
  readonly links: readonly StatisticsLink[];
}

export interface EventStat {
  readonly key: string;
  readonly label: string;
  readonly value: string | number | boolean | null;
  readonly unit: string;
  /** The value as the server writes it, "" where the page does. */
  readonly text: string;
}

/** Over the events of one name and kind. */
interface SameNameEvents {
  readonly count: number;
  readonly totalPs: number;
  readonly meanPs: number;
  readonly minPs: number;
  readonly maxPs: number;
  /** Of the name, but of another category or on another kind of track. */
  readonly others: number;
}

export interface StatisticsLink {
  readonly tool: string;
  readonly label: string;
  readonly view: View;
}

/** Throws PayloadError. */
export function parseEvent(json: unknown): EventDetails {
  const event = record(json, "the event");
  const step = event.step ? record(event.step, "the step") : null;
  const hlo = event.hlo ? record(event.hlo, "the instruction") : null;
  const same = event.same_name ? record(event.same_name, "statistics of the name") : null;
  const place = parsePlace(event);
  return {
    ...place,
    fullName: text(event.full_name) || place.name,
    category: text(event.category),
    depth: count(event.depth),
    selfPs: number(event.self_ps),
    stack: records(event.stack).map((frame) => ({ id: number(frame.id), name: text(frame.name) })),
    step: step && {
      label: text(step.label),
      id: number(step.id),
      part: step.part === "events" ? "events" : "derived",
    },
    stats: records(event.stats).map((stat) => ({
      key: text(stat.key),
      label: text(stat.label) || text(stat.key),
      value: plain(stat.value),
      unit: text(stat.unit),
      text: text(stat.text),
    })),
    hlo: hlo && {
      module: text(hlo.module),
      instruction: text(hlo.instruction),
      text: text(hlo.text),
    },
    source: text(event.source) || null,
    sameName: same && {
      count: count(same.count),
      totalPs: number(same.total_ps),
      meanPs: number(same.mean_ps),
      minPs: number(same.min_ps),
      maxPs: number(same.max_ps),
      others: count(same.others),
    },
    links: records(event.links).map((link) => ({
      tool: text(link.tool),
      label: text(link.label),
      view: Object.fromEntries(
        Object.entries(record(link.params ?? {}, "the parameters of a link")).map(
          ([name, value]) => [name, String(value)],
        ),
      ),
    })),
  };
}

export interface Flow {
  /** launch, produce, async or flow. */
  readonly kind: string;
  readonly from: EventAt;
  readonly to: EventAt;
}

export interface Flows {
  readonly flows: readonly Flow[];
  /** There may be more than are listed. */
  readonly total: number;
}

/** Throws PayloadError. */
export function parseFlows(json: unknown): Flows {
  const answer = record(json, "the flows");
  const flows = records(answer.flows).map((flow) => ({
    kind: text(flow.kind),
    from: parsePlace(record(flow.from, "the start of a flow")),
    to: parsePlace(record(flow.to, "the end of a flow")),
  }));
  return { flows, total: Math.max(count(answer.total), flows.length) };
}

export type AggregateBy = "name" | "category" | "track";

/** Columns over the keys, by falling self time. */
export interface AggregateAnswer {
  readonly events: number;
  readonly busyPs: number;
  readonly idlePs: number;
  readonly key: readonly string[];
  readonly category: readonly string[];
  /** Ids, where keys are tracks; else []. */
  readonly track: readonly number[];
  readonly count: Float64Array;
  readonly totalPs: Float64Array;
  readonly selfPs: Float64Array;
  readonly meanPs: Float64Array;
  readonly minPs: Float64Array;
  readonly maxPs: Float64Array;
  /** 0–1. */
  readonly share: Float64Array;
}

/** Throws PayloadError. */
export function parseAggregate(json: unknown): AggregateAnswer {
  const answer = record(json, "the aggregate");
  const rows = record(answer.rows, "the rows of the aggregate");
  const key = texts(rows.key);
  const column = (value: unknown) => {
    const values = numbers(value);
    if (values.length !== key.length)
      throw new PayloadError("the columns of the aggregate differ in length");
    return values;
  };
  const category = texts(rows.category);
  return {
    events: count(answer.events),
    busyPs: number(answer.busy_ps),
    idlePs: number(answer.idle_ps),
    key,
    category: key.map((_, at) => category[at] ?? ""),
    track: integers(rows.track),
    count: column(rows.count),
    totalPs: column(rows.total_ps),
    selfPs: column(rows.self_ps),
    meanPs: column(rows.mean_ps),
    minPs: column(rows.min_ps),
    maxPs: column(rows.max_ps),
    share: column(rows.share),
  };
}

function parsePlace(json: Readonly<Record<string, unknown>>): EventAt {
  const id = number(json.id);
  if (!Number.isInteger(id)) throw new PayloadError("an event has no id");
  return {
    id,
    name: text(json.name),
    track: count(json.track, -1),
    row: count(json.row, -1),
    startPs: number(json.start_ps),
    durationPs: count(json.duration_ps),
  };
}

function plain(value: unknown): string | number | boolean | null {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : null;
}
