/** The totals of the rows that pass the filters. */
import { useMemo } from "preact/hooks";

import { steady } from "../steady";
import type { TableColumn } from "../table/columns";
import { sum } from "../table/group";
import { countText, type TableModel } from "../table/model";
import { cellClass } from "./grid_head";
import type { Places } from "./widths/places";

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

  return (
    <div class="grid-foot" role="rowgroup">
      <div class="grid-row" role="row" aria-rowindex={rowIndex}>
        {visible.map((column, index) => (
          <div
            key={column.id}
            role="gridcell"
            class={cellClass(column, "cell", places.left[index])}
            style={places.left[index] === undefined ? undefined : { left: places.left[index] }}
          >
            {index === labelAt ? `Total of ${countText(model)}` : totals[index]}
          </div>
        ))}
      </div>
    </div>
  );
});

/** The sum over the rows that pass the filters, in the unit of the header. */
function total(column: TableColumn, columns: readonly TableColumn[], matched: Uint32Array): string {
  const source = columns.find((candidate) => candidate.id === column.id);
  if (column.group.how !== "sum" || column.hasNoTotal || !source || !column.scale) return "";
  const value = sum(source.data, matched);
  return Number.isNaN(value) ? "" : column.scale.format(value);
}
