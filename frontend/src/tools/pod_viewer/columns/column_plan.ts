/** The columns of a step: their workers, their order and their positions. */
import { tickIncrement } from "../../../widgets/chart/ticks";
import type { Pod } from "../payload";
import { ownTimes, type StepCells } from "../step/step_cells";

export interface ColumnArrangement {
  /** One column per host, its latest worker. */
  readonly isByHost: boolean;
  /** Ordered by time without collectives, else by host. */
  readonly isLatestFirst: boolean;
}

/** Rows of `cells`, one per column. */
export function arrangeColumns(
  pod: Pod,
  cells: StepCells,
  { isByHost, isLatestFirst }: ColumnArrangement,
): Int32Array {
  const { workers } = pod;
  const { worker } = cells;
  // Workers that are not compared come last.
  const own = ownTimes(pod, cells).map((time) => (Number.isNaN(time) ? -1 : time));
  let rows = Int32Array.from(worker.keys());
  if (isByHost) {
    const latest = new Map<number, number>();
    for (const row of rows) {
      const host = workers.host[worker[row]];
      const known = latest.get(host);
      if (known === undefined || own[row] > own[known]) latest.set(host, row);
    }
    rows = Int32Array.from(latest.values());
  }
  return isLatestFirst ? rows.sort((a, b) => own[b] - own[a] || a - b) : rows;
}

export interface ColumnPlan {
  /** CSS pixels from one column to the next. */
  readonly pitch: number;
  /** The width of a column. */
  readonly width: number;
  /** The width of all columns; larger than the room if they scroll. */
  readonly total: number;
}

const NARROWEST = 12;
const WIDEST = 160;

export function planColumns(count: number, room: number): ColumnPlan {
  const pitch = Math.max(room / Math.max(count, 1), NARROWEST);
  const width = Math.min(Math.max(pitch - Math.max(pitch * 0.2, 2), 1), WIDEST);
  return { pitch, width, total: pitch * count };
}

/** The column at `x` CSS pixels from the start of the first; -1 for none. */
export function columnAt({ pitch }: ColumnPlan, count: number, x: number): number {
  const column = Math.floor(x / pitch);
  return column >= 0 && column < count ? column : -1;
}

export interface Ticks {
  readonly top: number;
  readonly increment: number;
}

/** A zero-based axis up to `most`, with ticks at 1, 2 or 5 times a power of ten in its unit. */
export function planTicks(most: number, factor: number, marks: number): Ticks {
  return { top: most * 1.05 || 1, increment: tickIncrement(most || 1, factor, marks) };
}

const BETWEEN = 6;

/** The labels of columns: all names if they fit, else the number of each `every`-th column. */
export function columnNames(
  names: readonly string[],
  pitch: number,
  widthOf: (text: string) => number,
): { readonly texts: readonly string[]; readonly every: number } {
  if (widthOf(longest(names)) <= pitch - 2) return { texts: names, every: 1 };
  const numbers = names.map((name) => name.slice(name.lastIndexOf(":") + 1));
  return {
    texts: numbers,
    every: Math.max(Math.ceil((widthOf(longest(numbers)) + BETWEEN) / pitch), 1),
  };
}

function longest(texts: readonly string[]): string {
  return texts.reduce((most, text) => (text.length > most.length ? text : most), "");
}

/** The name of a host; if it does not fit, the number at its end, provided that all hosts differ in it. */
export function hostLabel(
  names: readonly string[],
  host: number,
  fits: (name: string) => boolean,
): string {
  const name = (names[host] ?? "").slice(0, 80);
  if (fits(name)) return name;
  const numbers = names.map((other) => /\d+$/.exec(other)?.[0] ?? "");
  const isClear = numbers.every(Boolean) && new Set(numbers).size === names.length;
  return isClear ? numbers[host] : name;
}
