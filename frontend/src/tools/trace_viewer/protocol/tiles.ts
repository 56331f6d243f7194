/** Decodes the server's tiles ("TBT1") into columns for the canvas. */
import { PayloadError } from "../../../api/errors";
import { count, integers, type Json, list, record, text } from "../../../api/json";

/** Buckets per tile. */
export const TILE_BUCKETS = 512;

/** The chunks of one response. A chunk is one row of one tile, with entries in time order. */
export type TileBlock = Readonly<ReturnType<typeof decodeTiles>>;

export interface TypeName {
  readonly id: number;
  /** Truncated by the server to 200 characters. */
  readonly name: string;
  readonly category: number;
}

const MAGIC = 0x31544254;
const ESCAPE = 65535;
const COLUMNS = 5;
const ENTRY_BYTES = 28;
/** A block with its position in the cache. */
const CHUNK_BYTES = 120;

/** Duration of a tile of `level` in ps. */
export function tileSpan(level: number): number {
  return TILE_BUCKETS * 2 ** level;
}

/** Assigns global numbers to the types of a response. */
type Intern = (types: readonly TypeName[]) => ArrayLike<number>;

/** Throws PayloadError. Source: docs/http_api.md, "timeline_tiles". */
export function decodeTiles(buffer: ArrayBuffer, intern: Intern) {
  const head = readHead(buffer);
  const chunks = size(head.json.chunks);
  const entries = size(head.json.entries);
  const wideCounts = list(head.json.wide).map(size);
  const reader = new Reader(buffer, head.end);
  const chunkRow = reader.uint32(chunks).slice();
  // Tile numbers may exceed 32 bits, so they are relative to the first requested tile.
  const from = count(head.json.from);
  const chunkTile = Float64Array.from(reader.uint32(chunks), (tile) => from + tile);
  const chunkFirst = reader.uint32(chunks + 1).slice();
  const base = reader.float64(chunks);
  const firstId = reader.uint32(chunks);
  const columns = Array.from({ length: COLUMNS }, () => reader.uint16(entries));
  const wide = wideCounts.map((length) => reader.float64(length));
  if (wide.length !== COLUMNS) throw new PayloadError("tiles lack columns");
  if (chunkFirst[0] !== 0 || chunkFirst[chunks] !== entries)
    throw new PayloadError("the chunks of tiles do not cover their entries");
  const block = {
    level: count(head.json.level),
    chunkCount: chunks,
    chunkRow,
    chunkTile,
    /** [chunks + 1] */
    chunkFirst,
    /**
     * Begin and end in host ps; of a merged entry, the begin of its first and the end of its
     * last event. Rounded down to 1/16 bucket, except the begin of the first entry of a chunk.
     */
    start: new Float64Array(entries),
    end: new Float64Array(entries),
    /** Numbered by `intern`. */
    type: new Uint32Array(entries),
    /** Number of events in the entry, whose id and type are those of the longest event. */
    count: new Uint32Array(entries),
    id: new Uint32Array(entries),
    /** Size in memory. */
    bytes: entries * ENTRY_BYTES + chunks * CHUNK_BYTES,
  };
  fillTimes(block, base, columns, wide, count(head.json.unit_ps, 1));
  fillIds(block, firstId, columns[4], wide[4]);
  fillCounts(block.count, columns[3], wide[3]);
  fillTypes(block.type, columns[2], wide[2], intern(readTypes(head.json)));
  return block;
}

function fillTimes(
  { chunkFirst, chunkCount, start, end }: TileBlock,
  base: Float64Array,
  [starts, durations]: readonly Uint16Array[],
  [wideStarts, wideDurations]: readonly Float64Array[],
  unit: number,
): void {
  let wideStart = 0;
  let wideDuration = 0;
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    const first = chunkFirst[chunk];
    const last = chunkFirst[chunk + 1];
    if (last < first) throw new PayloadError("the chunks of tiles are out of order");
    let at = 0;
    for (let entry = first; entry < last; entry++) {
      at += starts[entry] === ESCAPE ? wideStarts[wideStart++] : starts[entry];
      const duration =
        durations[entry] === ESCAPE ? wideDurations[wideDuration++] : durations[entry];
      start[entry] = base[chunk] + at * unit;
      end[entry] = start[entry] + duration * unit;
    }
  }
}

function fillIds(
  { chunkFirst, chunkCount, id }: TileBlock,
  firstId: Uint32Array,
  ids: Uint16Array,
  wide: Float64Array,
): void {
  let wideAt = 0;
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    let at = firstId[chunk];
    for (let entry = chunkFirst[chunk]; entry < chunkFirst[chunk + 1]; entry++) {
      at += ids[entry] === ESCAPE ? wide[wideAt++] : ids[entry];
      id[entry] = at;
    }
  }
}

function fillCounts(counts: Uint32Array, narrow: Uint16Array, wide: Float64Array): void {
  let wideAt = 0;
  for (let entry = 0; entry < narrow.length; entry++)
    counts[entry] = narrow[entry] === ESCAPE ? wide[wideAt++] : narrow[entry];
}

function fillTypes(
  type: Uint32Array,
  narrow: Uint16Array,
  wide: Float64Array,
  numbers: ArrayLike<number>,
): void {
  let wideAt = 0;
  for (let entry = 0; entry < narrow.length; entry++) {
    const at = narrow[entry] === ESCAPE ? wide[wideAt++] : narrow[entry];
    if (!(at < numbers.length)) throw new PayloadError("an entry of a tile has no type");
    type[entry] = numbers[at];
  }
}

function readHead(buffer: ArrayBuffer): { readonly json: Json; readonly end: number } {
  const view = new DataView(buffer);
  if (buffer.byteLength < 8 || view.getUint32(0, true) !== MAGIC)
    throw new PayloadError("the answer is not tiles");
  const length = view.getUint32(4, true);
  if (8 + length > buffer.byteLength) throw new PayloadError("the tiles are cut short");
  const json: unknown = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  return { json: record(json, "the head of tiles"), end: 8 + length };
}

function readTypes(json: Json): TypeName[] {
  const names = list(json.names);
  const categories = list(json.categories);
  return integers(json.types).map((id, index) => ({
    id,
    name: text(names[index]),
    category: count(categories[index]),
  }));
}

function size(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw new PayloadError("the head of tiles lacks a size");
  return value as number;
}

/** Reads blocks of numbers, each aligned to eight bytes. */
class Reader {
  constructor(
    private readonly buffer: ArrayBuffer,
    private at: number,
  ) {}

  uint16(length: number) {
    return new Uint16Array(this.buffer, this.take(length * 2), length);
  }

  uint32(length: number) {
    return new Uint32Array(this.buffer, this.take(length * 4), length);
  }

  float64(length: number) {
    return new Float64Array(this.buffer, this.take(length * 8), length);
  }

  private take(bytes: number): number {
    const begin = Math.ceil(this.at / 8) * 8;
    if (begin + bytes > this.buffer.byteLength) throw new PayloadError("the tiles are cut short");
    this.at = begin + bytes;
    return begin;
  }
}
