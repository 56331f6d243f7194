/** Plans the requests for missing tiles. Pure. */
import type { Source } from "../model/sources";

/** The part of a source that a view shows: `rows` in tiles [from, to) of `level`. */
export interface Want {
  readonly source: Source;
  readonly level: number;
  readonly from: number;
  readonly to: number;
  /** Ascending. */
  readonly rows: readonly number[];
  /** Rows above and below those in view, for prefetching. */
  readonly near: () => readonly number[];
}

export interface TileRequest {
  readonly source: Source;
  readonly level: number;
  readonly from: number;
  readonly to: number;
  readonly rows: readonly number[];
}

export type Has = (source: Source, level: number, tile: number, row: number) => boolean;

/** Coarser by this many levels: an eighth of the entries, so it arrives soon. */
export const STAND_IN = 3;
/** The number of coarser levels that are searched for substitutes. */
export const FARTHEST_STAND_IN = 12;
/** The server accepts up to 65,536. */
const MAX_CHUNKS = 60_000;

/** The requests for missing tiles of `want`; rows that lack the same tiles share a request. */
export function missingTiles(want: Omit<Want, "near">, has: Has): TileRequest[] {
  const { source, level } = want;
  const groups = new Map<string, { from: number; to: number; rows: number[] }>();
  for (const row of want.rows) {
    let from = want.from;
    let to = want.to;
    while (from < to && has(source, level, from, row)) from++;
    while (to > from && has(source, level, to - 1, row)) to--;
    if (from === to) continue;
    const key = `${from} ${to}`;
    const group = groups.get(key);
    if (group) group.rows.push(row);
    else groups.set(key, { from, to, rows: [row] });
  }
  return [...groups.values()].flatMap(({ from, to, rows }) => {
    const each = Math.max(Math.floor(MAX_CHUNKS / (to - from)), 1);
    const parts: TileRequest[] = [];
    for (let at = 0; at < rows.length; at += each)
      parts.push({ source, level, from, to, rows: rows.slice(at, at + each) });
    return parts;
  });
}

/** The same part of the trace, coarser by `by` levels, if there are that many. */
export function coarser(want: Want, by: number): Want {
  const level = Math.min(want.level + by, Math.max(want.source.index.maxLevel, want.level));
  const factor = 2 ** (level - want.level);
  return {
    ...want,
    level,
    from: Math.floor(want.from / factor),
    to:
      want.to > want.from ? Math.floor((want.to - 1) / factor) + 1 : Math.floor(want.from / factor),
  };
}

/** The rows of `want` without a loaded coarser tile as a substitute. */
export function bareRows(want: Want, has: Has): number[] {
  const { source, level, from, to } = want;
  const top = Math.min(level + FARTHEST_STAND_IN, source.index.maxLevel);
  const isCovered = (tile: number, row: number) => {
    for (let index = level + 1, above = tile; index <= top; index++) {
      above = Math.floor(above / 2);
      if (has(source, index, above, row)) return true;
    }
    return false;
  };
  return want.rows.filter((row) => {
    for (let tile = from; tile < to; tile++)
      if (!has(source, level, tile, row) && !isCovered(tile, row)) return true;
    return false;
  });
}

/** The tiles to prefetch: a coarser level, both sides, rows above and below. */
export function neighbors(want: Want): Omit<Want, "near">[] {
  const wide = coarser(want, STAND_IN);
  const side = Math.ceil((want.to - want.from) / 2);
  const last = lastTile(want);
  const near = want.near();
  return [
    { ...wide, from: Math.max(wide.from - 1, 0), to: Math.min(wide.to + 1, lastTile(wide) + 1) },
    { ...wide, rows: near },
    { ...want, from: want.to, to: Math.min(want.to + side, last + 1) },
    { ...want, from: Math.max(want.from - side, 0), to: want.from },
    { ...want, rows: near },
  ].filter(({ from, to, rows }) => to > from && rows.length > 0);
}

/** Whether the response to `request` is useful for `want`. */
export function isUseful(request: TileRequest, want: Want): boolean {
  if (request.source !== want.source) return false;
  const above = request.level - want.level;
  if (above < -1 || above > STAND_IN + 1) return false;
  const scale = 2 ** above;
  const isBeside = request.from * scale >= want.to || request.to * scale <= want.from;
  return !isBeside && request.rows.some((row) => want.rows.includes(row));
}

function lastTile({ source: { index }, level }: Omit<Want, "near">): number {
  return Math.floor((index.endPs - index.beginPs) / (512 * 2 ** level));
}
