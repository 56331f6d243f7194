/** The points of the roofline, and why other rows have none. */
import { type DataTable, numbers, type TextColumn, textAt, texts } from "../../api/data_table";
import { chooseColors } from "../../base/palette";
import { findSlices } from "../../widgets/donut/slices";
import type { Roof } from "../../widgets/scatter/points";
import { PROGRAM } from "../programs/program_column";
import type { RooflinePeak } from "./payload";
import { formatRate } from "./rates";

/** The columns that colors and shapes of marks can stand for. */
export const KINDS = [
  ["category", "Category"],
  ["bound_by", "Bound by"],
  [PROGRAM, "Program"],
  ["dtype", "Element type"],
] as const;

/** Rows without a point, the longest first. */
export interface Absent {
  readonly reason: "unknown" | "still" | "elsewhere";
  readonly rows: Uint32Array;
  /** Of the devices' time, 0–1. */
  readonly share: number;
}

/** The points of `rows`, the rows that the table shows. */
export function findPoints(table: DataTable, rows: Uint32Array, kindId: string) {
  const intensity = intensities(table);
  const rate = numbers(table, "measured_flop_rate") ?? new Float64Array(table.length);
  const own = numbers(table, "total_self_time") ?? new Float64Array(table.length);
  const notes = texts(table, "cost_note");
  const unknown: number[] = [];
  const still: number[] = [];
  const elsewhere: number[] = [];
  const placed: number[] = [];
  for (const row of rows) {
    if (textAt(notes, row) !== "" || Number.isNaN(rate[row])) unknown.push(row);
    else if (rate[row] === 0) still.push(row);
    else if (intensity[row] > 0 && Number.isFinite(intensity[row])) placed.push(row);
    else elsewhere.push(row);
  }
  const rowOf = Uint32Array.from(placed);
  const pointOf = new Int32Array(table.length).fill(-1);
  rowOf.forEach((row, point) => {
    pointOf[row] = point;
  });
  const { kind, kinds } = kindsOf(texts(table, kindId), own, rowOf);
  return {
    points: {
      x: Float64Array.from(rowOf, (row) => intensity[row]),
      y: Float64Array.from(rowOf, (row) => rate[row] * 1e9),
      weight: Float64Array.from(rowOf, (row) => own[row]),
      kind,
    },
    kinds,
    /** The row of each point. */
    rowOf,
    /** The point of each row of the table; -1 for none. */
    pointOf,
    absent: absences(table, { unknown, still, elsewhere }, own),
  };
}

/** Operations per byte of main memory; per byte of any memory if main memory is not used. */
function intensities(table: DataTable): Float64Array {
  const main = numbers(table, "hbm_operational_intensity");
  const all = numbers(table, "operational_intensity");
  return Float64Array.from({ length: table.length }, (_, row) => {
    const value = main?.[row] ?? Number.NaN;
    return Number.isFinite(value) ? value : (all?.[row] ?? Number.NaN);
  });
}

/** The values of a column with the most time as kinds, and one kind for all others. */
function kindsOf(column: TextColumn | undefined, own: Float64Array, rowOf: Uint32Array) {
  const all = {
    kinds: [{ label: "op", color: "var(--accent)" }],
    kind: new Int32Array(rowOf.length),
  };
  if (!column) return all;
  const isPlaced = new Uint8Array(own.length);
  for (const row of rowOf) isPlaced[row] = 1;
  const slices = findSlices(column, own, (row) => isPlaced[row] === 1);
  if (slices.length === 0) return all;
  const named = slices.filter(({ isOthers }) => !isOthers);
  const colors = chooseColors(named.map(({ name }) => name));
  const kinds = slices.map(({ name, isOthers, names }, index) => ({
    label: isOthers ? `${names} others` : name === "" ? "(none)" : name,
    color: isOthers ? "var(--c-others)" : colors[index],
  }));
  const ofCode = new Map(named.map(({ code }, index) => [code, index]));
  return {
    kinds,
    kind: Int32Array.from(rowOf, (row) => ofCode.get(column.codes[row]) ?? kinds.length - 1),
  };
}

function absences(
  table: DataTable,
  rows: Readonly<Record<Absent["reason"], number[]>>,
  own: Float64Array,
): Absent[] {
  const shares = numbers(table, "total_self_time_percent");
  return (["unknown", "still", "elsewhere"] as const)
    .filter((reason) => rows[reason].length > 0)
    .map((reason) => ({
      reason,
      rows: Uint32Array.from(rows[reason]).sort((one, other) => own[other] - own[one]),
      share: rows[reason].reduce((sum, row) => sum + (shares?.[row] || 0), 0),
    }));
}

/** The lines of all peaks; equal peaks are merged. `used` is the type with the most time. */
export function findRoofs(peaks: readonly RooflinePeak[], used: string): Roof[] {
  const levels = new Map<number, string[]>();
  const slopes: Roof[] = [];
  for (const { kind, name, peak } of peaks) {
    if (!(peak > 0)) continue;
    if (kind === "compute") levels.set(peak, [...(levels.get(peak) ?? []), name]);
    else
      slopes.push({
        label: `${name} ${formatRate(peak, "B/s")}`,
        bounds: "slope",
        value: peak * 1e9,
        isMain: name === "HBM",
      });
  }
  const main = peaks.some(({ name }) => name === used) ? used : "f16";
  return [
    ...slopes,
    ...[...levels].map(([peak, names]) => ({
      label: `${names.join(", ")} ${formatRate(peak, "FLOP/s")}`,
      bounds: "level" as const,
      value: peak * 1e9,
      isMain: names.includes(main),
    })),
  ];
}

/** The type whose peak applies to most of the rows' time; "" for none. */
export function usedRoof(table: DataTable): string {
  const roofs = texts(table, "roof");
  const own = numbers(table, "total_self_time");
  if (!roofs || !own) return "";
  return findSlices(roofs, own, (row) => textAt(roofs, row) !== "")[0]?.name ?? "";
}
