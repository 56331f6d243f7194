/** How one kernel was launched: its rows by launch shape, and how long single launches lasted. */
import { type DataTable, numbers, textAt, texts } from "../../api/data_table";

export interface LaunchShape {
  readonly block: string;
  readonly grid: string;
  /** NaN where it was not recorded, as bytes and percent below. */
  readonly registers: number;
  readonly sharedBytes: number;
  readonly occupancy: number;
  readonly launches: number;
  /** µs */
  readonly total: number;
  /** Different ops that launched it so. */
  readonly ops: number;
}

/** The launch shapes of `rows`, the one with the most time first. */
export function launchShapes(table: DataTable, rows: Uint32Array): LaunchShape[] {
  const text = (id: string) => {
    const column = texts(table, id);
    return (row: number) => textAt(column, row);
  };
  const number = (id: string) => {
    const column = numbers(table, id);
    return (row: number) => column?.[row] ?? Number.NaN;
  };
  const [block, grid, op] = [text("block_dim"), text("grid_dim"), text("op_name")];
  const [registers, sharedBytes] = [number("registers_per_thread"), number("shmem_bytes")];
  const [occupancy, launches] = [number("occupancy_pct"), number("occurrences")];
  const total = number("total_duration_us");
  const byShape = new Map<string, number[]>();
  for (const row of rows) {
    const key = [block(row), grid(row), registers(row), sharedBytes(row)].join(" ");
    const members = byShape.get(key);
    if (members) members.push(row);
    else byShape.set(key, [row]);
  }
  const sum = (members: readonly number[], of: (row: number) => number) =>
    members.reduce((whole, row) => whole + (of(row) || 0), 0);
  return [...byShape.values()]
    .map((members) => ({
      block: block(members[0]),
      grid: grid(members[0]),
      registers: registers(members[0]),
      sharedBytes: sharedBytes(members[0]),
      // Of one shape it differs only between kinds of devices.
      occupancy: sum(members, (row) => occupancy(row)) / members.length || Number.NaN,
      launches: sum(members, launches),
      total: sum(members, total),
      ops: new Set(members.map(op)).size,
    }))
    .sort((a, b) => b.total - a.total || b.launches - a.launches);
}

export interface Durations {
  /** µs */
  readonly median: number;
  readonly deviation: number;
  /** Launches in equal parts of the time from the shortest to the longest. */
  readonly bins: readonly number[];
  readonly least: number;
  readonly most: number;
}

const BINS = 24;

/** Of single launches; null where rows sum several, so that these are not known. */
export function singleDurations(table: DataTable, rows: Uint32Array): Durations | null {
  const launches = numbers(table, "occurrences");
  const totals = numbers(table, "total_duration_us");
  if (!launches || !totals || rows.length < 2 || rows.some((row) => launches[row] !== 1))
    return null;
  const sorted = Float64Array.from(rows, (row) => totals[row]).sort();
  const [least, most] = [sorted[0], sorted[sorted.length - 1]];
  const mean = sorted.reduce((sum, one) => sum + one, 0) / sorted.length;
  const squares = sorted.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  const bins = new Array<number>(BINS).fill(0);
  for (const one of sorted)
    bins[Math.min(Math.floor(((one - least) / (most - least || 1)) * BINS), BINS - 1)]++;
  const middle = sorted.length >> 1;
  return {
    median: sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2,
    deviation: Math.sqrt(squares / sorted.length),
    bins,
    least,
    most,
  };
}
