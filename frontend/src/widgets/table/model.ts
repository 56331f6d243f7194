/** The model of a table: rows, order and columns as a function of the data and the address. */
import { useMemo } from "preact/hooks";
import type { DataTable } from "../../api/data_table";
import { formatCount, plural } from "../../base/format";
import type { View } from "../../base/url_state";
import { type ColumnSpec, resolveColumns, type TableColumn } from "./columns";
import { parseFilter, type RowTest } from "./filter";
import { type Grouping, groupRows } from "./group";
import { clickSort, formatSort, parseSort, sortRows } from "./sort";

interface TableSetup {
  readonly table: DataTable;
  readonly specs: readonly ColumnSpec[];
  readonly groupings: readonly Grouping[];
  /** The id of the default grouping of these rows, for addresses without one; null for none. */
  readonly defaultGrouping?: (columns: readonly TableColumn[], rows: Uint32Array) => string | null;
  /** The column whose values are never mixed in a group. */
  readonly sectionBy?: string;
  /** The column by whose sum groups are ordered. */
  readonly rankBy: string;
  /** "op", "kernel": what a row is. */
  readonly noun: string;
  readonly view: View;
  readonly select: (patch: Readonly<Record<string, string | null>>) => void;
}

export type TableModel = Readonly<ReturnType<typeof useTableModel>>;

export function useTableModel(setup: TableSetup) {
  const { table, specs, view, rankBy } = setup;
  const columns = useMemo(() => resolveColumns(table, specs), [table, specs]);
  const filterKey = JSON.stringify(columns.map((column) => view[filterName(column.id)] ?? ""));
  // `filterKey` stands for the relevant part of `view`.
  const { matched, errors, hasFilters } = useMemo(
    () => filterRows(table.length, columns, view),
    [table, columns, filterKey],
  );
  const { groupings, defaultGrouping, sectionBy } = setup;
  const standardId = useMemo(
    () => defaultGrouping?.(columns, matched) ?? null,
    [columns, matched, defaultGrouping],
  );
  const named = (id: string | null | undefined) =>
    groupings.find((candidate) => candidate.id === id) ?? null;
  const standard = named(standardId);
  const grouping = view.group === NO_GROUPS ? null : (named(view.group) ?? standard);
  const groups = useMemo(() => {
    const keys = grouping?.keys(columns);
    if (!keys) return null;
    const sections = columns.find((column) => column.id === sectionBy)?.data;
    return groupRows(
      columns,
      matched,
      keys,
      rankBy,
      sections?.kind === "text" ? sections : undefined,
    );
  }, [columns, matched, grouping, rankBy, sectionBy]);
  const shown = groups ? groups.columns : columns;
  const sortText = view.sort ?? "";
  const sort = useMemo(() => parseSort(sortText), [sortText]);
  const order = useMemo(
    () => sortRows(groups ? Uint32Array.from(groups.members.keys()) : matched, shown, sort),
    [groups, matched, shown, sort],
  );
  const columnText = view.cols;
  const visible = useMemo(() => visibleColumns(shown, columnText), [shown, columnText]);
  return {
    ...setup,
    /** All columns of the payload, ungrouped. */
    columns,
    /** Rows that pass the filters. */
    matched,
    errors,
    sort,
    grouping: groups ? grouping : null,
    /** The default grouping. */
    standard,
    groups,
    /** The columns to draw: those of the groups if rows are grouped. */
    shown,
    visible,
    /** Rows of `shown`, in order. */
    order,
    hasFilters,
    isDense: view.rows === "dense",
    isFilterRowOpen: view.filters === "1" || hasFilters,
  };
}

/** The value in the address for no grouping, where the default is a grouping. */
const NO_GROUPS = "none";

/** Groups by `grouping`, or not at all if null. The default is not stored in the address. */
export function chooseGrouping(model: TableModel, grouping: Grouping | null): void {
  const id = grouping?.id ?? NO_GROUPS;
  model.select({ group: grouping === model.standard ? null : id });
}

/** The rows of the payload that line `item` of the grid represents; see layout.ts. */
export function rowsOf(model: TableModel, item: number): Uint32Array {
  if (item < 0) return Uint32Array.of(-item - 1);
  return model.groups ? model.groups.members[item] : Uint32Array.of(item);
}

/** "1 op"; with filters "3 of 20 ops". */
export function countText({ table, matched, noun }: TableModel): string {
  const all = plural(table.length, noun);
  return matched.length === table.length ? all : `${formatCount(matched.length)} of ${all}`;
}

export function filterName(id: string): string {
  return `f.${id}`;
}

/** A text of column `id` as displayed in its cells. */
export function columnName(model: TableModel, id: string, code: number): string {
  const column = model.columns.find((candidate) => candidate.id === id);
  if (column?.data.kind !== "text") return "";
  return column.names ? column.names.folded(code) : column.data.strings[code];
}

/** Sets a column's filter, and opens the filter row, so that the filter is visible. */
export function setFilter(model: TableModel, id: string, text: string): void {
  model.select({ [filterName(id)]: text === "" ? null : text, filters: "1" });
}

export function clearFilters(model: TableModel): void {
  model.select(Object.fromEntries(model.columns.map((column) => [filterName(column.id), null])));
}

export function clickHeader(model: TableModel, column: TableColumn, isAdding: boolean): void {
  const keys = clickSort(model.sort, column, isAdding);
  model.select({ sort: keys.length > 0 ? formatSort(keys) : null });
}

/** Shows or hides a column. The default choice is not stored in the address. */
export function showColumn(model: TableModel, id: string, isShown: boolean): void {
  const ids = model.shown
    .filter((column) => (column.id === id ? isShown : model.visible.includes(column)))
    .map((column) => column.id);
  const standard = model.shown.filter((column) => column.isShown).map((column) => column.id);
  model.select({ cols: ids.join() === standard.join() ? null : ids.join() });
}

function filterRows(length: number, columns: readonly TableColumn[], view: View) {
  const errors = new Map<string, string>();
  const tests: RowTest[] = [];
  let hasFilters = false;
  for (const column of columns) {
    const text = view[filterName(column.id)] ?? "";
    if (text.trim() === "") continue;
    hasFilters = true;
    const filter = parseFilter(text, column);
    if (filter?.test) tests.push(filter.test);
    else if (filter) errors.set(column.id, filter.error);
  }
  const matched = new Uint32Array(length);
  let count = 0;
  for (let row = 0; row < length; row++) {
    if (tests.every((test) => test(row))) matched[count++] = row;
  }
  return { matched: matched.subarray(0, count), errors, hasFilters };
}

/** The chosen columns; the default ones if none of the chosen ones exist. */
function visibleColumns(
  columns: readonly TableColumn[],
  chosen: string | undefined,
): TableColumn[] {
  const ids = chosen === undefined ? null : new Set(chosen.split(","));
  const visible = columns.filter((column) => (ids ? ids.has(column.id) : column.isShown));
  return visible.length > 0 ? visible : columns.filter((column) => column.isShown);
}
