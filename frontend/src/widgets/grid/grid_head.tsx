/** Column headers: sort on click, a second key with shift, and how the figures are computed. */
import { Why } from "../overlays/why";
import type { TableColumn } from "../table/columns";
import { clickHeader, type TableModel } from "../table/model";
import type { Places } from "./places";

export function GridHead({ model, places }: { model: TableModel; places: Places }) {
  return (
    <div class="grid-row" role="row" aria-rowindex={1}>
      {model.visible.map((column, at) => (
        <Header key={column.id} model={model} column={column} left={places.left[at]} />
      ))}
    </div>
  );
}

function Header({
  model,
  column,
  left,
}: {
  model: TableModel;
  column: TableColumn;
  left?: string;
}) {
  const at = model.sort.findIndex((key) => key.id === column.id);
  const key = model.sort[at];
  const order = key ? (key.isDescending ? "descending" : "ascending") : "none";
  return (
    <div
      role="columnheader"
      aria-sort={order}
      class={cellClass(column, "head-cell", left)}
      style={left === undefined ? undefined : { left }}
    >
      {column.explanation ? <Why title={column.title} explanation={column.explanation} /> : null}
      <button
        type="button"
        class="sort"
        title="Sort; with Shift, as a further key"
        onClick={(event) => clickHeader(model, column, event.shiftKey)}
      >
        <span class="sort-title">{column.title}</span>
        {column.scale?.unit ? <span class="unit">{column.scale.unit}</span> : null}
        <span class="sort-mark" aria-hidden="true">
          {key ? (key.isDescending ? "▼" : "▲") : ""}
          {key && model.sort.length > 1 ? at + 1 : ""}
        </span>
      </button>
    </div>
  );
}

export function cellClass(column: TableColumn, base: string, left?: string): string {
  const kind = column.data.kind === "number" ? " number" : "";
  return `${base}${kind}${left === undefined ? "" : " sticky"}`;
}
