/** Sources of rows: one part of one host's timeline. */
import type { Part, TimelineIndex } from "../protocol/payload";
import type { TileQuery } from "../protocol/questions";
import type { HostTimeline } from "./types";

export interface Source {
  readonly key: string;
  readonly host: HostTimeline;
  readonly part: Part;
  readonly index: TimelineIndex;
}

const known = new WeakMap<TimelineIndex, Source>();

/** The same object for the same index, as long as the host's offset does not change. */
export function sourceOf(host: HostTimeline, part: Part): Source | null {
  const index = host[part];
  if (!index) return null;
  let source = known.get(index);
  if (source?.host !== host) {
    source = { key: `${host.host}\n${part}\n${index.version}`, host, part, index };
    known.set(index, source);
  }
  return source;
}

export function queryOf(
  { host, part, index }: Source,
  level: number,
  from: number,
  to: number,
): TileQuery {
  return { host: host.host, part, version: index.version, level, from, to };
}
