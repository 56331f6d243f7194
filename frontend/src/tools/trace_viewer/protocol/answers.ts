/** Server responses about events: search, details, flows, aggregates. */
import { PayloadError } from "../../../api/errors";
import {
  count,
  integers,
  type Json,
  list,
  number,
  numbers,
  record,
  records,
  text,
  texts,
} from "../../../api/json";
import type { Part } from "./payload";

/** One event and its position. */
export type EventAt = Readonly<ReturnType<typeof parsePlace>>;
export type SearchAnswer = Readonly<ReturnType<typeof parseSearch>>;

/** Throws PayloadError. */
export function parseSearch(json: unknown) {
  const answer = record(json, "the search");
  const tracks = record(answer.tracks ?? {}, "the tracks of the search");
  return {
    /** Number of matching events. */
    count: count(answer.count),
    /** Number of distinct names among them. */
    types: count(answer.types),
    /** In time order. */
    hits: records(answer.hits).map(parsePlace),
    /** Token for the next page, "" at the end. */
    cursor: text(answer.cursor),
    /** Number of matches by track id. */
    tracks: new Map(Object.entries(tracks).map(([id, hits]) => [Number(id), count(hits)])),
  };
}

/** Positions of hits, by row: begin and end of each, alternating. */
export function parseMatchOverview(json: unknown): ReadonlyMap<number, Float64Array> {
  const rows = record(record(json, "the match overview").rows, "the match overview");
  return new Map(
    Object.entries(rows).map(([row, spans]) => [
      Number(row),
      Float64Array.from(
        list(spans).flatMap((span) => [number(list(span)[0]), number(list(span)[1])]),
      ),
    ]),
  );
}

export type EventDetails = Readonly<ReturnType<typeof parseEvent>>;
export type EventStat = Readonly<ReturnType<typeof parseStat>>;
export type StatisticsLink = Readonly<ReturnType<typeof parseLink>>;

/** Throws PayloadError. */
export function parseEvent(json: unknown) {
  const event = record(json, "the event");
  const step = event.step ? record(event.step, "the step") : null;
  const hlo = event.hlo ? record(event.hlo, "the instruction") : null;
  const same = event.same_name ? record(event.same_name, "statistics of the name") : null;
  const part: Part = step?.part === "events" ? "events" : "derived";
  const place = parsePlace(event);
  return {
    ...place,
    fullName: text(event.full_name) || place.name,
    category: text(event.category),
    /** NaN if unknown. */
    selfPs: number(event.self_ps),
    /** The enclosing events, outermost first. */
    stack: records(event.stack).map((frame) => ({ id: number(frame.id), name: text(frame.name) })),
    step: step && { label: text(step.label), id: number(step.id), part },
    stats: records(event.stats).map(parseStat),
    hlo: hlo && {
      module: text(hlo.module),
      instruction: text(hlo.instruction),
      text: text(hlo.text),
    },
    source: text(event.source) || null,
    sameName: same && parseSameName(same),
    links: records(event.links).map(parseLink),
  };
}

function parseStat(stat: Json) {
  return {
    key: text(stat.key),
    label: text(stat.label) || text(stat.key),
    value: plain(stat.value),
    unit: text(stat.unit),
    /** The value as formatted by the server, "" if the page formats it. */
    text: text(stat.text),
  };
}

/** Statistics of the events of one name and kind. */
function parseSameName(same: Json) {
  return {
    count: count(same.count),
    totalPs: number(same.total_ps),
    meanPs: number(same.mean_ps),
    minPs: number(same.min_ps),
    maxPs: number(same.max_ps),
    /** Events of the same name in another category or on another kind of track. */
    others: count(same.others),
  };
}

function parseLink(link: Json) {
  const parameters = record(link.params ?? {}, "the parameters of a link");
  return {
    tool: text(link.tool),
    label: text(link.label),
    view: Object.fromEntries(
      Object.entries(parameters).map(([name, value]) => [name, String(value)]),
    ),
  };
}

export type Flow = Readonly<ReturnType<typeof parseFlow>>;
export type Flows = Readonly<ReturnType<typeof parseFlows>>;

/** Throws PayloadError. */
export function parseFlows(json: unknown) {
  const answer = record(json, "the flows");
  const flows = records(answer.flows).map(parseFlow);
  return {
    flows,
    /** The total number, which may exceed the number listed. */
    total: Math.max(count(answer.total), flows.length),
  };
}

function parseFlow(flow: Json) {
  return {
    /** launch, produce, async or flow. */
    kind: text(flow.kind),
    from: parsePlace(record(flow.from, "the start of a flow")),
    to: parsePlace(record(flow.to, "the end of a flow")),
  };
}

export type AggregateBy = "name" | "category" | "track";

/** One column entry per key, by descending self time. */
export type AggregateAnswer = Readonly<ReturnType<typeof parseAggregate>>;

/** Throws PayloadError. */
export function parseAggregate(json: unknown) {
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
    category: key.map((_, index) => category[index] ?? ""),
    /** Track ids if the keys are tracks, otherwise []. */
    track: integers(rows.track),
    count: column(rows.count),
    totalPs: column(rows.total_ps),
    selfPs: column(rows.self_ps),
    meanPs: column(rows.mean_ps),
    minPs: column(rows.min_ps),
    maxPs: column(rows.max_ps),
    /** 0–1. */
    share: column(rows.share),
  };
}

function parsePlace(json: Json) {
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
