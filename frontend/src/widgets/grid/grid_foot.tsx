/** Totals of what is shown. */
import { useMemo } from "preact/hooks";
import { formatCount } from "../../base/format";
import { steady } from "../steady";
import type { TableColumn } from "../table/columns";
import { sum } from "../table/group";
import type { TableModel } from "../table/model";
import { cellClass } from "./grid_head";
import type { Places } from "./places";

interface GridFootProps {
  readonly model: TableModel;
  readonly places: Places;
  readonly rowIndex: number;
}

export const GridFoot = steady(function GridFoot({ model, places, rowIndex }: GridFootProps) {
  const { visible, columns, matched } = model;
  const totals = useMemo(
    () => visible.map((column) => total(column, columns, matched)),
    [visible, columns, matched],
  );
  const labelAt = Math.max(
    visible.findIndex((column) => column.isName),
    0,
  );
  const all = model.table.length;
  const count =
    matched.length === all
      ? formatCount(all)
      : `${formatCount(matched.length)} of ${formatCount(all)}`;
  return (
    <div class="grid-foot" role="rowgroup">
      <div class="grid-row" role="row" aria-rowindex={rowIndex}>
        {visible.map((column, at) => (
          <div
            key={column.id}
            role="gridcell"
            class={cellClass(column, "cell", places.left[at])}
            style={places.left[at] === undefined ? undefined : { left: places.left[at] }}
          >
            {at === labelAt ? `Total of ${count} ${model.noun}s` : totals[at]}
          </div>
        ))}
      </div>
    </div>
  );
});

/** Sums over the rows of the payload that pass the filters, in the units of the header. */
function total(column: TableColumn, columns: readonly TableColumn[], matched: Uint32Array): string {
  const source = columns.find((candidate) => candidate.id === column.id);
  if (column.group.how !== "sum" || column.hasNoTotal || !source || !column.scale) return "";
  const value = sum(source.data, matched);
  return Number.isNaN(value) ? "" : column.scale.format(value);
}
