/** The charts above the op table: self time by op and by type, for each side. */
import { type DataTable, numbers, type TextColumn, texts } from "../../api/data_table";
import { findSlices, type Slice } from "../../widgets/donut/slices";
import { familyFilter } from "../../widgets/table/name_folding";
import { foldColumn } from "./groupings";
import { type Side, sideRows } from "./payload";

export interface OpChart {
  readonly title: string;
  readonly side: Side;
  /** The column that a slice filters. */
  readonly id: "operation" | "type";
  readonly noun: string;
  readonly slices: readonly Slice[];
  /** Whether the names of slices are folded; see widgets/table/name_folding.ts. */
  readonly isFolded: boolean;
}

/** With a larger share of "others", names are folded. */
const MOST_OTHERS = 0.25;
/** With a larger share of "others", a chart is useless. */
const TOO_MANY_OTHERS = 0.5;

/**
 * The charts of each side that has ops. If the largest ops are small, the chart by op folds the
 * numbers of replicas and layers; if that does not help, it is left out.
 */
export function findCharts(table: DataTable): OpChart[] {
  const values = numbers(table, "total_self_time");
  const [operation, type] = [texts(table, "operation"), texts(table, "type")];
  if (!values) return [];
  return (["Device", "SparseCore", "Host"] as const).flatMap((side) => {
    const within = sideRows(table, side);
    if (!within) return [];
    const slicesOf = (names: TextColumn | undefined) =>
      names ? findSlices(names, values, within) : [];
    const byType = slicesOf(type);
    const single = slicesOf(operation);
    const isFolded = othersOf(single) > MOST_OTHERS;
    const byOp = isFolded ? slicesOf(foldColumn(operation!)) : single;
    const charts: OpChart[] = [];
    if (byOp.length > 0 && (byType.length === 0 || othersOf(byOp) <= TOO_MANY_OTHERS))
      charts.push({
        title: `${side} self time by op`,
        side,
        id: "operation",
        noun: "op",
        slices: byOp,
        isFolded,
      });
    if (byType.length > 0)
      charts.push({
        title: `${side} self time by op type`,
        side,
        id: "type",
        noun: "op type",
        slices: byType,
        isFolded: false,
      });
    return charts;
  });
}

/** The filter that limits the table to a slice. */
export function sliceFilter(chart: OpChart, slice: Slice): string {
  return chart.isFolded ? familyFilter(slice.name) : `=${slice.name}`;
}

function othersOf(slices: readonly Slice[]): number {
  return slices.find((slice) => slice.isOthers)?.share ?? 0;
}
