/** A small timeline and its tiles, made by the letter of docs/http_api.md, for tests. */
import { TILE_BUCKETS } from "./tiles";

export interface DrawnEvent {
  readonly row: number;
  readonly start: number;
  readonly duration: number;
  readonly type: number;
}

export interface TileEntry {
  readonly row: number;
  readonly start: number;
  readonly extent: number;
  readonly type: number;
  readonly id: number;
  readonly count: number;
}

/** Events by row and start; an event's id is its place. */
export function inOrder(events: readonly DrawnEvent[]): DrawnEvent[] {
  return [...events].sort((a, b) => a.row - b.row || a.start - b.start);
}

/** Entries of a level: long events alone, short ones merged per row and bucket. */
export function mergeEvents(events: readonly DrawnEvent[], level: number, begin = 0): TileEntry[] {
  const width = 2 ** level;
  const entries: (TileEntry & { bucket: number; longest: number })[] = [];
  const short = new Map<string, number>();
  events.forEach(({ row, start, duration, type }, id) => {
    const bucket = Math.floor((start - begin) / width);
    const entry = { row, start, extent: duration, type, id, count: 1, bucket, longest: duration };
    const key = `${row} ${bucket}`;
    const known = duration < width ? short.get(key) : undefined;
    if (known !== undefined) {
      const old = entries[known];
      const isLonger = duration > old.longest;
      entries[known] = {
        ...old,
        extent: Math.max(old.start + old.extent, start + duration) - old.start,
        count: old.count + 1,
        ...(isLonger ? { id, type, longest: duration } : {}),
      };
      return;
    }
    if (duration < width) short.set(key, entries.length);
    entries.push(entry);
  });
  return entries.map(({ row, start, extent, type, id, count }) => ({
    row,
    start,
    extent,
    type,
    id,
    count,
  }));
}

export interface EncodeOptions {
  readonly level: number;
  readonly from: number;
  readonly to: number;
  readonly rows: readonly number[];
  readonly begin?: number;
  readonly name?: (type: number) => string;
}

export function encodeTiles(events: readonly DrawnEvent[], options: EncodeOptions): ArrayBuffer {
  const { level, from, to, rows, begin = 0, name = (type) => `op ${type}` } = options;
  const unit = 2 ** Math.max(level - 4, 0);
  const tile = TILE_BUCKETS * 2 ** level;
  const merged = mergeEvents(events, level, begin);
  const types: number[] = [];
  const chunks: { row: number; tile: number; entries: TileEntry[] }[] = [];
  for (const row of rows) {
    for (let at = from; at < to; at++) {
      const [low, high] = [begin + at * tile, begin + (at + 1) * tile];
      const own = merged.filter((entry) => entry.row === row);
      const starting = own.filter(({ start }) => start >= low && start < high);
      const reaching = own.filter(({ start, extent }) => start < low && start + extent > low);
      chunks.push({ row, tile: at, entries: [...reaching.slice(-1), ...starting] });
    }
  }
  const columns: number[][] = [[], [], [], [], []];
  const wide: number[][] = [[], [], [], [], []];
  const push = (column: number, value: number) => {
    if (value < 65535) columns[column].push(value);
    else {
      columns[column].push(65535);
      wide[column].push(value);
    }
  };
  const first = [0];
  for (const { entries } of chunks) {
    let [start, id] = [0, entries[0]?.id ?? 0];
    const base = entries[0]?.start ?? 0;
    for (const entry of entries) {
      const at = Math.floor((entry.start - base) / unit);
      if (!types.includes(entry.type)) types.push(entry.type);
      push(0, at - start);
      push(1, Math.floor((entry.start + entry.extent - base) / unit) - at);
      push(2, types.indexOf(entry.type));
      push(3, entry.count);
      push(4, entry.id - id);
      [start, id] = [at, entry.id];
    }
    first.push(columns[0].length);
  }
  const head = new TextEncoder().encode(
    JSON.stringify({
      level,
      unit_ps: unit,
      begin_ps: begin,
      from,
      chunks: chunks.length,
      entries: columns[0].length,
      wide: wide.map((column) => column.length),
      types,
      names: types.map(name),
      categories: types.map((type) => type % 3),
      truncated: false,
    }),
  );
  const bytes: number[] = [
    ...new TextEncoder().encode("TBT1"),
    ...raw(Uint32Array.of(head.length)),
  ];
  bytes.push(...head);
  const add = (values: ArrayBufferView) => {
    while (bytes.length % 8 !== 0) bytes.push(0);
    bytes.push(...raw(values));
  };
  add(Uint32Array.from(chunks, (chunk) => chunk.row));
  add(Uint32Array.from(chunks, (chunk) => chunk.tile - from));
  add(Uint32Array.from(first));
  add(Float64Array.from(chunks, (chunk) => chunk.entries[0]?.start ?? 0));
  add(Uint32Array.from(chunks, (chunk) => chunk.entries[0]?.id ?? 0));
  for (const column of columns) add(Uint16Array.from(column));
  add(Float64Array.from(wide.flat()));
  return Uint8Array.from(bytes).buffer;
}

function raw(values: ArrayBufferView): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
