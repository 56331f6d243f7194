/** Column headers: click to sort, Shift-click for a further sort key, "?" for the explanation. */
import { Why } from "../overlays/why";
import { steady } from "../steady";
import type { TableColumn } from "../table/columns";
import { clickHeader, type TableModel } from "../table/model";
import type { Places } from "./widths/places";
import { Resizer } from "./widths/resizer";

interface GridHeadProps {
  readonly model: TableModel;
  readonly places: Places;
  /** Sets the width of a column; null for the default. */
  readonly resize: (id: string, width: number | null) => void;
  /** The width that shows every text of a visible column. */
  readonly natural: (at: number) => number;
}

export const GridHead = steady(function GridHead(props: GridHeadProps) {
  const { model, places, resize, natural } = props;
  return (
    <div class="grid-row" role="row" aria-rowindex={1}>
      {model.visible.map((column, index) => (
        <Header
          key={column.id}
          model={model}
          column={column}
          left={places.left[index]}
          resize={(width) => resize(column.id, width)}
          natural={() => natural(index)}
        />
      ))}
    </div>
  );
});

/** Changes of the width by Alt and a key; 0 for the default width. */
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -24, ArrowRight: 24, Home: 0 };

function Header({
  model,
  column,
  left,
  resize,
  natural,
}: {
  model: TableModel;
  column: TableColumn;
  left?: string;
  resize: (width: number | null) => void;
  natural: () => number;
}) {
  const index = model.sort.findIndex((key) => key.id === column.id);
  const key = model.sort[index];
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
        class="bare inner-focus sort"
        title="Click to sort, Shift-click to add a sort column. Alt+← and Alt+→ change the width"
        onClick={(event) => clickHeader(model, column, event.shiftKey)}
        onKeyDown={(event) => {
          const step = event.altKey ? STEPS[event.key] : undefined;
          if (step === undefined) return;
          event.preventDefault();
          const cell = event.currentTarget.parentElement;
          resize(step === 0 ? null : (cell?.offsetWidth ?? column.width) + step);
        }}
      >
        <span class="sort-line">
          <span class="sort-title">{column.title}</span>
          <span class="sort-mark" aria-hidden="true">
            {key ? (key.isDescending ? "▼" : "▲") : ""}
            {key && model.sort.length > 1 ? index + 1 : ""}
          </span>
        </span>
        <span class="unit">{column.scale?.unit}</span>
      </button>
      <Resizer title={column.title} resize={resize} natural={natural} />
    </div>
  );
}

export function cellClass(column: TableColumn, base: string, left?: string): string {
  const kind = column.data.kind === "number" ? " number" : "";
  return `${base}${kind}${left === undefined ? "" : " sticky"}`;
}
