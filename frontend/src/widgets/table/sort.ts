/** Sorts rows as permutations; columns are not changed. */
import type { TableColumn } from "./columns";

export interface SortKey {
  readonly id: string;
  readonly isDescending: boolean;
}

/** Parses "-total,name". */
export function parseSort(text: string): SortKey[] {
  return text
    .split(",")
    .filter((part) => part !== "" && part !== "-")
    .map((part) =>
      part.startsWith("-")
        ? { id: part.slice(1), isDescending: true }
        : { id: part, isDescending: false },
    );
}

export function formatSort(keys: readonly SortKey[]): string {
  return keys.map((key) => (key.isDescending ? `-${key.id}` : key.id)).join(",");
}

/**
 * The sort keys after a click on `column`. The first click sorts numbers in descending and texts in
 * ascending order, the second reverses that, the third restores the server's order.
 */
export function clickSort(
  keys: readonly SortKey[],
  column: TableColumn,
  isAdding: boolean,
): SortKey[] {
  const startsDescending = column.data.kind !== "text" && column.quantity !== "rank";
  const current = keys.find((key) => key.id === column.id);
  const next: SortKey | null =
    current === undefined
      ? { id: column.id, isDescending: startsDescending }
      : current.isDescending === startsDescending
        ? { id: column.id, isDescending: !startsDescending }
        : null;
  const others = isAdding ? keys.filter((key) => key.id !== column.id) : [];
  if (next === null) return others;
  const index = isAdding && current ? keys.indexOf(current) : others.length;
  return others.toSpliced(index, 0, next);
}

/** `rows` sorted by `keys`. The order is stable; missing values come last. */
export function sortRows(
  rows: Uint32Array,
  columns: readonly TableColumn[],
  keys: readonly SortKey[],
): Uint32Array {
  const compares = keys.flatMap((key) => {
    const column = columns.find((candidate) => candidate.id === key.id);
    return column ? [comparison(column, key.isDescending)] : [];
  });
  if (compares.length === 0) return rows;
  const [first, ...others] = compares;
  return rows.slice().sort((a, b) => {
    let order = first(a, b);
    for (let index = 0; order === 0 && index < others.length; index++) order = others[index](a, b);
    return order === 0 ? a - b : order;
  });
}

function comparison(column: TableColumn, isDescending: boolean): (a: number, b: number) => number {
  const values = sortValues(column);
  const sign = isDescending ? -1 : 1;
  return (a, b) => {
    const x = values[a];
    const y = values[b];
    if (x === y) return 0;
    const isMissingX = Number.isNaN(x);
    if (isMissingX || Number.isNaN(y)) return isMissingX ? (Number.isNaN(y) ? 0 : 1) : -1;
    return x < y ? -sign : sign;
  };
}

/** A number per row that sorts like its cell; NaN for missing values. */
function sortValues({ data }: TableColumn): Float64Array {
  if (data.kind === "number") return data.values;
  if (data.kind === "flag")
    return Float64Array.from(data.values, (flag) => (flag < 0 ? Number.NaN : flag));
  const lower = data.strings.map((text) => text.slice(0, 1024).toLowerCase());
  const byText = [...lower.keys()].sort((a, b) =>
    lower[a] < lower[b] ? -1 : lower[a] > lower[b] ? 1 : 0,
  );
  const ranks = new Float64Array(lower.length);
  let rank = 0;
  byText.forEach((code, index) => {
    if (index > 0 && lower[code] !== lower[byText[index - 1]]) rank++;
    ranks[code] = rank;
  });
  return Float64Array.from(data.codes, (code) => (code < 0 ? Number.NaN : ranks[code]));
}
