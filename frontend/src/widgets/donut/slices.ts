/** Shares of a whole by name: the largest ones, and one slice for all others. */
import type { TextColumn } from "../../api/data_table";
import type { RowTest } from "../table/filter";

export interface Slice {
  /** As the payload has it; "" for the others. */
  readonly name: string;
  /** Of the name in its column, -1 for the others. */
  readonly code: number;
  readonly value: number;
  /** 0–1 of the whole. */
  readonly share: number;
  readonly isOthers: boolean;
  /** How many names the slice stands for. */
  readonly names: number;
  /** Rows of the payload that the slice stands for. */
  readonly has: RowTest;
}

const TOP = 8;

/** The `top` largest names by the sum of `values`, then the others. Only rows of `within`. */
export function findSlices(
  names: TextColumn,
  values: Float64Array,
  within: RowTest = () => true,
  top = TOP,
): Slice[] {
  const sums = new Float64Array(names.strings.length);
  for (let row = 0; row < values.length; row++) {
    if (names.codes[row] >= 0 && values[row] > 0 && within(row))
      sums[names.codes[row]] += values[row];
  }
  let total = 0;
  const codes: number[] = [];
  sums.forEach((value, code) => {
    total += value;
    if (value > 0) codes.push(code);
  });
  codes.sort((a, b) => sums[b] - sums[a]);
  // A single remaining name is shown by its name, not as "others".
  const isWhole = codes.length <= top + 1;
  const leading = isWhole ? codes : codes.slice(0, top);
  const slices: Slice[] = leading.map((code) => ({
    name: names.strings[code],
    code,
    value: sums[code],
    share: sums[code] / total,
    isOthers: false,
    names: 1,
    has: (row) => names.codes[row] === code && within(row),
  }));
  if (isWhole) return slices;
  const rest = new Set(codes.slice(top));
  const value = codes.slice(top).reduce((sum, code) => sum + sums[code], 0);
  slices.push({
    name: "",
    code: -1,
    value,
    share: value / total,
    isOthers: true,
    names: rest.size,
    has: (row) => rest.has(names.codes[row]) && within(row),
  });
  return slices;
}
