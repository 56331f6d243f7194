/** One line of a table and, when open, what is beneath it. */
import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { formatCount, NOT_MEASURED } from "../../base/format";
import { cellText, type TableColumn, valueText } from "../table/columns";
import type { RowTest } from "../table/filter";
import type { TableModel } from "../table/model";
import { Name } from "../text/name";
import { cellClass } from "./grid_head";
import type { Places } from "./places";

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
  readonly onSelect: () => void;
  readonly onToggle: () => void;
}

export function GridRow(props: GridRowProps) {
  const { model, item, isOpen, isActive } = props;
  const isMember = item < 0;
  const isGroup = model.groups !== null && !isMember;
  const row = isMember ? -item - 1 : item;
  const sources = isMember ? model.columns : model.shown;
  const test = props.highlight?.value ?? null;
  const isHighlighted = test?.(isGroup ? model.groups!.members[row][0] : row);
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
        onClick={props.onSelect}
        onDblClick={props.onToggle}
      >
        {model.visible.map((column, at) => {
          const source = sources.find((candidate) => candidate.id === column.id) ?? column;
          const left = props.places.left[at];
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
                  class="opener"
                  tabIndex={-1}
                  aria-label={isOpen ? "Close the row" : "Open the row"}
                  onClick={props.onToggle}
                >
                  {isOpen ? "▾" : "▸"}
                </button>
              ) : null}
              <CellContent column={column} source={source} row={row} isGroup={isGroup} />
              {isGroup && column.group.how === "label" ? (
                <span class="group-size">{formatCount(model.groups!.members[row].length)}</span>
              ) : null}
            </div>
          );
        })}
      </div>
      {isOpen && !isGroup ? (
        <div
          class="grid-detail"
          role="row"
          style={{ transform: `translateY(${props.top + (model.isDense ? 22 : 28)}px)` }}
        >
          <div role="gridcell" aria-colspan={model.visible.length}>
            {props.detail(row)}
          </div>
        </div>
      ) : null}
    </>
  );
}

interface CellContentProps {
  readonly column: TableColumn;
  /** The column that holds the value; `column` says how it is written. */
  readonly source: TableColumn;
  readonly row: number;
  readonly isGroup: boolean;
}

function CellContent({ column, source, row, isGroup }: CellContentProps) {
  const { data } = source;
  const text = cellText(column, row, data);
  if (text === NOT_MEASURED) return <Missing isGroup={isGroup} isText={data.kind === "text"} />;
  if (data.kind === "flag") {
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

function Missing({ isGroup, isText }: { isGroup: boolean; isText: boolean }) {
  if (isGroup && isText)
    return (
      <span class="muted" title="Several values in this group">
        …
      </span>
    );
  return (
    <span
      class="muted"
      title={isGroup ? "Not measured, or not the same in this group" : "Not measured"}
    >
      {NOT_MEASURED}
    </span>
  );
}

function isFirstName(model: TableModel, column: TableColumn): boolean {
  return model.visible.find((candidate) => candidate.isName) === column;
}
