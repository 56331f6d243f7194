/** A row of a table with its detail, if it is expanded. */
import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { formatCount, NOT_MEASURED, plural } from "../../base/format";
import { steady } from "../steady";
import { cellText, type TableColumn, valueText } from "../table/columns";
import type { RowTest } from "../table/filter";
import { distinctTexts } from "../table/group";
import { rowsOf, type TableModel } from "../table/model";
import { Name } from "../text/name";
import { cellClass } from "./grid_head";
import type { Places } from "./widths/places";

interface GridRowProps {
  readonly id: string;
  readonly model: TableModel;
  readonly places: Places;
  /** See layout.ts. */
  readonly item: number;
  readonly position: number;
  readonly top: number;
  readonly isActive: boolean;
  readonly isOpen: boolean;
  readonly highlight?: Signal<RowTest | null>;
  readonly detail: (row: number) => ComponentChildren;
  readonly groupDetail?: (rows: Uint32Array) => ComponentChildren;
  readonly detailHeight: number;
  readonly pointAt?: (row: number | null) => void;
  /** Called with the position. All functions here must be stable, so that rows are not re-rendered. */
  readonly onSelect: (position: number) => void;
  readonly onToggle: (position: number) => void;
}

/** Memoized: most rows do not change while the table scrolls. */
export const GridRow = steady(function GridRow(props: GridRowProps) {
  const { model, item, isOpen, isActive, groupDetail } = props;
  const isMember = item < 0;
  const row = isMember ? -item - 1 : item;
  const rows = rowsOf(model, item);
  const isOne = rows.length === 1;
  const sources = isMember ? model.columns : model.shown;
  const test = props.highlight?.value ?? null;
  const isHighlighted = test?.(rows[0]);
  const style = { transform: `translateY(${props.top}px)` };
  const classes = `${isActive ? " active" : ""}${isHighlighted ? " highlighted" : ""}${isMember ? " member" : ""}`;
  return (
    <>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys go to the grid */}
      <div
        id={props.id}
        role="row"
        class={`grid-row${classes}`}
        style={style}
        aria-rowindex={props.position + 2}
        aria-selected={isActive}
        aria-expanded={isOpen}
        aria-level={isMember ? 2 : 1}
        onMouseEnter={props.pointAt && (() => props.pointAt?.(isOne ? rows[0] : null))}
        onMouseLeave={props.pointAt && (() => props.pointAt?.(null))}
        onClick={() => props.onSelect(props.position)}
        onDblClick={() => props.onToggle(props.position)}
      >
        {model.visible.map((column, index) => {
          const source = sources.find((candidate) => candidate.id === column.id) ?? column;
          const left = props.places.left[index];
          return (
            <div
              key={column.id}
              role="gridcell"
              title={column.quantity === "time" ? valueText(source, row) : undefined}
              class={cellClass(column, "cell", left)}
              style={left === undefined ? undefined : { left }}
            >
              {column.isName && isFirstName(model, column) ? (
                <button
                  type="button"
                  class="bare opener"
                  tabIndex={-1}
                  aria-label={isOpen ? "Close the row" : "Open the row"}
                  onClick={() => props.onToggle(props.position)}
                >
                  {isOpen ? "▾" : "▸"}
                </button>
              ) : null}
              <CellContent column={column} source={source} row={row} model={model} item={item} />
              {!isOne && column.group.how === "label" ? (
                <span class="group-size">{formatCount(rows.length)}</span>
              ) : null}
            </div>
          );
        })}
      </div>
      {isOpen && (isOne || groupDetail) ? (
        <div
          class="grid-detail"
          role="row"
          style={{
            height: `${props.detailHeight}px`,
            transform: `translateY(${props.top + (model.isDense ? 22 : 28)}px)`,
          }}
        >
          <div role="gridcell" aria-colspan={model.visible.length}>
            {isOne ? props.detail(rows[0]) : groupDetail?.(rows)}
          </div>
        </div>
      ) : null}
    </>
  );
});

interface CellContentProps {
  readonly column: TableColumn;
  /** The column that holds the value; `column` formats it. */
  readonly source: TableColumn;
  readonly row: number;
  readonly model: TableModel;
  readonly item: number;
}

function CellContent({ column, source, row, model, item }: CellContentProps) {
  const { data } = source;
  const text = cellText(column, row, data);
  if (text === NOT_MEASURED) return <Missing several={several(model, column, item)} />;
  // A text column may also have "unknown" besides "yes" and "no".
  if (data.kind === "flag" || (!source.names && (text === "yes" || text === "no"))) {
    return (
      <span class={text === "yes" ? "flag yes" : "flag"}>
        <span aria-hidden="true">{text === "yes" ? "✓ " : "✕ "}</span>
        {text}
      </span>
    );
  }
  if (data.kind === "text") {
    if (!source.names)
      return (
        <span class="text" title={text}>
          {text}
        </span>
      );
    const code = data.codes[row];
    return <Name text={source.names.folded(code)} full={data.strings[code]} />;
  }
  if (!column.hasBar || column.max === 0) return <>{text}</>;
  const share = Math.max(0, Math.min(data.values[row] / column.max, 1));
  return (
    <>
      <span class="bar" style={{ width: `${(share * 100).toFixed(1)}%` }} />
      <span class="bar-text">{text}</span>
    </>
  );
}

function Missing({ several }: { several: string | null }) {
  return (
    <span class="muted" title={several === null ? "Not measured" : "Several values in this group"}>
      {several ?? NOT_MEASURED}
    </span>
  );
}

/** The text for a group whose rows have different values: "194 ops" or "…"; null otherwise. */
function several(model: TableModel, column: TableColumn, item: number): string | null {
  if (column.group.how !== "same") return null;
  const data = model.columns.find(({ id }) => id === column.id)?.data;
  const rows = rowsOf(model, item);
  if (!data || !rows.some((row) => cellText(column, row, data) !== NOT_MEASURED)) return null;
  return column.noun && data.kind === "text" ? plural(distinctTexts(data, rows), column.noun) : "…";
}

function isFirstName(model: TableModel, column: TableColumn): boolean {
  return model.visible.find((candidate) => candidate.isName) === column;
}
