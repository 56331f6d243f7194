/** Column specs and groupings that several tables share. */
import { encodeTexts, type TextColumn } from "../../api/data_table";
import type { Quantity } from "../../base/format";
import { nameScope } from "../../base/names";
import type { ColumnSpec, Explanation, TableColumn } from "./columns";
import type { Grouping } from "./group";

export const TIME_UNIT = "µs, shown in the unit of the header";
export const BYTES_UNIT = "bytes, shown in the unit of the header";

/** A factory of explanations with this source as the default. */
export function explaining(source: string) {
  return (formula: string, unit: string, own = source): Explanation => ({
    formula,
    unit,
    source: own,
  });
}

/** The sticky rank column. */
export function rankSpec(explanation: Explanation): ColumnSpec {
  return {
    id: "rank",
    title: "Rank",
    quantity: "rank",
    width: 56,
    isShown: true,
    isSticky: true,
    group: { how: "rank" },
    explanation,
  };
}

export function nameSpec(
  id: string,
  title: string,
  width: number,
  explanation: Explanation,
): ColumnSpec {
  return {
    id,
    title,
    isName: true,
    width,
    isShown: true,
    isSticky: true,
    group: { how: "label" },
    explanation,
  };
}

/** A column of numbers; a group has the sum of its rows, unless `how` says otherwise. */
export function numberSpec(
  id: string,
  title: string,
  quantity: Quantity | undefined,
  width: number,
  how: "sum" | "min" | "max" | "same" | "none" = "sum",
): ColumnSpec {
  return { id, title, quantity, width, isShown: true, group: { how } };
}

/** The operational intensity, hidden by default; `source` is that of operations and bytes. */
export function intensitySpec(source: string): ColumnSpec {
  return {
    id: "operational_intensity",
    title: "Intensity",
    quantity: "number",
    unit: "FLOP/B",
    width: 84,
    isShown: false,
    group: { how: "none" },
    explanation: {
      formula: "Operations ÷ bytes read and written",
      unit: "operations per byte",
      source,
    },
  };
}

/** A text column; a group shows the text if its rows have it in common. */
export function textSpec(
  id: string,
  title: string,
  width: number,
  isShown: boolean,
  explanation?: Explanation,
): ColumnSpec {
  return { id, title, width, isShown, group: { how: "same" }, explanation };
}

/** Groups rows with the same text in a column. */
export function groupBy(column: string, label: string, id = column): Grouping {
  return { id, label, keys: (columns) => textColumn(columns, column) };
}

/** Groups rows whose names have the same first `levels` scopes. */
export function groupByScope(id: string, label: string, column: string, levels: number): Grouping {
  const keys = (columns: readonly TableColumn[]) => {
    const names = textColumn(columns, column);
    if (!names) return undefined;
    const texts = names.strings.map((name) => nameScope(name, levels));
    const scopes = encodeTexts("scope", "Scope", texts);
    return { ...scopes, codes: names.codes.map((code) => (code < 0 ? -1 : scopes.codes[code])) };
  };
  return { id, label, keys };
}

/** The column if it exists and has texts. */
export function textColumn(columns: readonly TableColumn[], id: string): TextColumn | undefined {
  const data = columns.find((column) => column.id === id)?.data;
  return data?.kind === "text" ? data : undefined;
}
