/** One filter field per column; errors are shown below it. */
import { useId } from "preact/hooks";
import type { TableColumn } from "../table/columns";
import { filterName, setFilter, type TableModel } from "../table/model";
import { cellClass } from "./grid_head";
import type { Places } from "./widths/places";

export function FilterRow({ model, places }: { model: TableModel; places: Places }) {
  return (
    <div class="grid-row filter-row" role="row">
      {model.visible.map((column, index) => (
        <FilterCell key={column.id} model={model} column={column} left={places.left[index]} />
      ))}
    </div>
  );
}

function FilterCell({
  model,
  column,
  left,
}: {
  model: TableModel;
  column: TableColumn;
  left?: string;
}) {
  const id = useId();
  const error = model.errors.get(column.id);
  return (
    <div
      role="gridcell"
      class={cellClass(column, "filter-cell", left)}
      style={left === undefined ? undefined : { left }}
    >
      <input
        type="text"
        aria-label={`Filter by ${column.title}`}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : id}
        placeholder={example(column)}
        title={describe(column)}
        value={model.view[filterName(column.id)] ?? ""}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setFilter(model, column.id, event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          if (event.currentTarget.value !== "") setFilter(model, column.id, "");
          else event.currentTarget.closest<HTMLElement>(".grid")?.focus();
        }}
      />
      {error === undefined ? null : (
        <span class="filter-error" id={id} role="alert">
          {error}
        </span>
      )}
    </div>
  );
}

function example(column: TableColumn): string {
  if (column.data.kind === "flag") return "yes";
  if (column.data.kind === "number")
    return column.quantity === "time" ? `>1${column.scale!.unit}` : ">1";
  return column.isName ? "text or /regex/" : "text";
}

function describe(column: TableColumn): string {
  if (column.data.kind === "flag") return "yes or no; ! negates";
  if (column.data.kind === "number")
    return "Comparison or range: >5, <=10, 1..5, with or without a unit; ! negates";
  return "Text to find, =exact text or /regular expression/; ! negates";
}
