/** The launch shapes of a kernel. */
import { type DataTable, numbers, textAt, texts } from "../../../api/data_table";

export interface LaunchShape {
  readonly block: string;
  readonly grid: string;
  /** NaN if not recorded, as are the next two. */
  readonly registers: number;
  readonly sharedBytes: number;
  readonly occupancy: number;
  readonly launches: number;
  /** µs */
  readonly total: number;
  /** One of its rows in the table. */
  readonly row: number;
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
  const [block, grid] = [text("block_dim"), text("grid_dim")];
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
      // Within a shape, occupancy differs only between kinds of devices.
      occupancy: sum(members, (row) => occupancy(row)) / members.length || Number.NaN,
      launches: sum(members, launches),
      total: sum(members, total),
      row: members[0],
    }))
    .sort((a, b) => b.total - a.total || b.launches - a.launches);
}
