/** The groupings of the op table, and its default grouping. */
import { encodeTexts, type TextColumn } from "../../api/data_table";
import type { TableColumn } from "../../widgets/table/columns";
import type { Grouping } from "../../widgets/table/group";
import { foldNumbers } from "../../widgets/table/name_folding";
import { groupBy, groupByScope, textColumn } from "../../widgets/table/specs";

const FAMILY: Grouping = {
  id: "family",
  label: "Op, replicas and layers folded",
  keys: (columns) => {
    const operation = textColumn(columns, "operation");
    return operation && foldColumn(operation);
  },
};
const TYPE = groupBy("type", "Op type");

export const OP_GROUPINGS: readonly Grouping[] = [
  FAMILY,
  TYPE,
  groupByScope("scope1", "Name scope, first part", "operation", 1),
  groupByScope("scope2", "Name scope, two parts", "operation", 2),
  groupByScope("scope", "Name scope, whole", "operation", Number.POSITIVE_INFINITY),
  groupBy("host_or_device", "Host or device", "side"),
];

/** Rows below this share of their side's self time count as small. */
const SMALL = 0.01;
/** The largest share of a side's self time that may be in small rows. */
const MOST_SMALL = 0.25;

/**
 * The finest grouping in which small rows take little of each side's self time: none, by name with
 * numbers folded, or by type.
 */
export function defaultOpGrouping(
  columns: readonly TableColumn[],
  rows: Uint32Array,
): string | null {
  const own = columns.find((column) => column.id === "total_self_time")?.data;
  const operation = textColumn(columns, "operation");
  const side = textColumn(columns, "host_or_device");
  if (own?.kind !== "number" || !operation || !side) return null;
  const type = textColumn(columns, "type");
  const ops = rows.filter((row) => type === undefined || type.strings[type.codes[row]] !== IDLE);
  const isClear = (keys: TextColumn) =>
    smallShare(own.values, ops, keys.codes, side.codes) <= MOST_SMALL;
  if (isClear(operation)) return null;
  return isClear(foldColumn(operation)) ? FAMILY.id : TYPE.id;
}

/** The type of the rows of idle time. */
const IDLE = "IDLE";

/** The share of a side's self time in small groups; the largest of all sides. */
function smallShare(
  values: Float64Array,
  rows: Uint32Array,
  codes: Int32Array,
  sides: Int32Array,
): number {
  const wholes = new Map<number, number>();
  const groups = new Map<string, { side: number; sum: number }>();
  for (const row of rows) {
    const [side, value] = [sides[row], values[row] || 0];
    wholes.set(side, (wholes.get(side) ?? 0) + value);
    const key = `${side} ${codes[row]}`;
    const group = groups.get(key);
    if (group) group.sum += value;
    else groups.set(key, { side, sum: value });
  }
  const small = new Map<number, number>();
  for (const { side, sum } of groups.values()) {
    if (sum < SMALL * wholes.get(side)!) small.set(side, (small.get(side) ?? 0) + sum);
  }
  return Math.max(0, ...[...small].map(([side, sum]) => sum / wholes.get(side)!));
}

/** The column of op names, with the numbers of replicas and layers folded. */
export function foldColumn(operation: TextColumn): TextColumn {
  const known = folds.get(operation);
  if (known) return known;
  const families = encodeTexts(operation.id, operation.label, foldNumbers(operation.strings));
  const folded = { ...families, codes: operation.codes.map((code) => families.codes[code] ?? -1) };
  folds.set(operation, folded);
  return folded;
}

const folds = new WeakMap<TextColumn, TextColumn>();
