/** Groups rows by a key, and aggregates their values. */
import { type Column, encodeTexts, type TextColumn } from "../../api/data_table";
import { bindColumn, type TableColumn } from "./columns";

export interface Grouping {
  readonly id: string;
  readonly label: string;
  /** The key of each row; different keys may have the same text. */
  readonly keys: (columns: readonly TableColumn[]) => TextColumn | undefined;
}

export interface Groups {
  /** The same ids as the columns that were grouped, one row per group, largest first. */
  readonly columns: readonly TableColumn[];
  readonly length: number;
  /** The rows of each group. */
  readonly members: readonly Uint32Array[];
}

/**
 * The groups of `rows`, ordered by the sum of column `rankBy`. Groups never mix rows of different
 * `sections`, such as host and device; the groups of a section are adjacent.
 */
export function groupRows(
  columns: readonly TableColumn[],
  rows: Uint32Array,
  keys: TextColumn,
  rankBy: string,
  sections?: TextColumn,
): Groups {
  const sides = (sections?.strings.length ?? 0) + 1;
  const sectionOf = (row: number) => (sections?.codes[row] ?? -1) + 1;
  const byCode = new Map<number, number[]>();
  for (const row of rows) {
    const key = keys.codes[row] * sides + sectionOf(row);
    const members = byCode.get(key);
    if (members) members.push(row);
    else byCode.set(key, [row]);
  }
  const ranked = columns.find((column) => column.id === rankBy);
  const groups = [...byCode.values()].map((members) => {
    const code = keys.codes[members[0]];
    return {
      label: code < 0 || keys.strings[code] === "" ? "(none)" : keys.strings[code],
      section: sectionOf(members[0]),
      members: Uint32Array.from(members),
      // Groups without measured values come last.
      size: ranked ? sum(ranked.data, members) || 0 : members.length,
    };
  });
  groups.sort((a, b) => a.section - b.section || b.size - a.size || (a.label < b.label ? -1 : 1));
  const members = groups.map((group) => group.members);
  const labels = groups.map((group) => group.label);
  const isFirst = groups.map(({ section }, index) => section !== groups[index - 1]?.section);
  const made = new Map<string, Column>();
  const make = (column: TableColumn): Column => {
    const known = made.get(column.id);
    if (known) return known;
    const data = aggregate(
      column,
      members,
      labels,
      isFirst,
      (id) => {
        const other = columns.find((candidate) => candidate.id === id);
        return other ? make(other) : undefined;
      },
      columns,
    );
    made.set(column.id, data);
    return data;
  };
  return {
    columns: columns.map((column) => bindColumn(column, make(column))),
    length: groups.length,
    members,
  };
}

/** The sum of the measured values; NaN if there are none. */
export function sum(data: Column, rows: Iterable<number>): number {
  if (data.kind !== "number") return Number.NaN;
  let total = 0;
  let isMeasured = false;
  for (const row of rows) {
    const value = data.values[row];
    if (Number.isNaN(value)) continue;
    total += value;
    isMeasured = true;
  }
  return isMeasured ? total : Number.NaN;
}

/** The number of distinct texts in `rows`; missing and empty ones do not count. */
export function distinctTexts({ codes, strings }: TextColumn, rows: Iterable<number>): number {
  const distinct = new Set<number>();
  for (const row of rows)
    if (codes[row] >= 0 && strings[codes[row]] !== "") distinct.add(codes[row]);
  return distinct.size;
}

function aggregate(
  column: TableColumn,
  members: readonly Uint32Array[],
  labels: readonly string[],
  /** Whether a group is the first of its section. */
  isFirst: readonly boolean[],
  made: (id: string) => Column | undefined,
  columns: readonly TableColumn[],
): Column {
  const { data, group } = column;
  let soFar = 0;
  if (group.how === "label") return encodeTexts(data.id, data.label, labels);
  if (data.kind === "text") {
    return encodeTexts(
      data.id,
      data.label,
      members.map((rows) =>
        common(rows, (row) => (data.codes[row] < 0 ? null : data.strings[data.codes[row]])),
      ),
    );
  }
  if (data.kind === "flag") {
    const values = members.map((rows) => common(rows, (row) => data.values[row]) ?? -1);
    return { ...data, values: Int8Array.from(values) };
  }
  return { ...data, values: Float64Array.from(members, numberOf) };

  /** Must be called for the groups in order. */
  function numberOf(rows: Uint32Array, at: number): number {
    const values = (data as { values: Float64Array }).values;
    switch (group.how) {
      case "sum":
        return sum(data, rows);
      case "min":
      case "max":
        return extreme(values, rows, group.how === "min" ? -1 : 1);
      case "same":
        return common(rows, (row) => values[row]) ?? Number.NaN;
      case "rank":
        return at + 1;
      case "quotient": {
        const [of, by] = [made(group.of), made(group.by)];
        if (of?.kind !== "number" || by?.kind !== "number") return Number.NaN;
        return by.values[at] === 0 ? Number.NaN : of.values[at] / by.values[at];
      }
      case "mean":
        return weightedMean(values, columns.find((other) => other.id === group.weight)?.data, rows);
      case "running": {
        const of = made(group.of);
        if (of?.kind !== "number") return Number.NaN;
        soFar = (isFirst[at] ? 0 : soFar) + (of.values[at] || 0);
        return soFar;
      }
      default:
        return Number.NaN;
    }
  }
}

/** The value that all rows share; null if they differ. */
function common<T>(rows: Uint32Array, read: (row: number) => T): T | null {
  const first = read(rows[0]);
  for (const row of rows) if (read(row) !== first) return null;
  return first;
}

function extreme(values: Float64Array, rows: Uint32Array, sign: number): number {
  let best = Number.NaN;
  for (const row of rows) {
    const value = values[row];
    if (!Number.isNaN(value) && !(sign * value <= sign * best)) best = value;
  }
  return best;
}

/** Over the rows with a measured value. */
function weightedMean(
  values: Float64Array,
  weights: Column | undefined,
  rows: Uint32Array,
): number {
  if (weights?.kind !== "number") return Number.NaN;
  let total = 0;
  let weight = 0;
  for (const row of rows) {
    if (Number.isNaN(values[row]) || !(weights.values[row] > 0)) continue;
    total += values[row] * weights.values[row];
    weight += weights.values[row];
  }
  return weight > 0 ? total / weight : Number.NaN;
}
