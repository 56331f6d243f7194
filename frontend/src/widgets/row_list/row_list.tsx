/** A virtualized table; arrow keys move in it, Enter and clicks choose a row. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import "./row_list.css";

export interface RowColumn {
  readonly id: string;
  readonly title: string;
  /** Pixels; a column without a width takes the remaining room. */
  readonly width?: number;
  readonly isNumber?: boolean;
  readonly isSortable?: boolean;
  readonly cell: (row: number) => ComponentChildren;
}

export interface RowSort {
  readonly id: string;
  readonly isDescending: boolean;
}

/** Makes the rows a tree, which arrow keys expand and collapse. */
export interface RowLevels {
  /** From 1. */
  readonly level: (row: number) => number;
  /** null if the row has no children. */
  readonly isOpen: (row: number) => boolean | null;
  readonly turn: (row: number) => void;
}

interface RowListProps {
  readonly label: string;
  readonly columns: readonly RowColumn[];
  readonly length: number;
  /** The number of rows including those that are not loaded yet. */
  readonly total?: number;
  readonly sort?: RowSort | null;
  readonly onSort?: (id: string) => void;
  /** -1: none. */
  readonly selected: number;
  readonly choose: (row: number) => void;
  /** Called with the last visible row, so that further rows can be loaded. */
  readonly seen?: (last: number) => void;
  /** The text shown when there are no rows. */
  readonly empty: ComponentChildren;
  /** Identifies the rows: when it changes, the list scrolls to its top. */
  readonly of: unknown;
  readonly hasFocus?: boolean;
  readonly levels?: RowLevels;
}

const LIST_ROW = 24;
const OVERSCAN = 4;
const HEAD = 26;
/** The minimum width of a column without a width, in pixels. */
const LEAST = 160;

export function RowList(props: RowListProps) {
  const { label, columns, length, sort, selected, choose, seen } = props;
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ top: 0, height: 300 });
  const [active, setActive] = useState(Math.max(selected, 0));
  const first = Math.max(Math.floor(place.top / LIST_ROW) - OVERSCAN, 0);
  const last = Math.min(Math.ceil((place.top + place.height) / LIST_ROW) + OVERSCAN, length);
  const at = Math.min(active, length - 1);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = () =>
      setPlace((before) =>
        before.height === element.clientHeight
          ? before
          : { ...before, height: element.clientHeight },
      );
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (props.hasFocus) scroller.current?.focus();
  }, [props.hasFocus]);
  useEffect(() => {
    setActive(Math.max(selected, 0));
    scroller.current?.scrollTo({ top: Math.max(selected - 3, 0) * LIST_ROW });
    // Other rows are shown from their top, or from the selected row.
  }, [props.of]);
  useEffect(() => {
    if (selected >= 0) moveTo(selected);
  }, [selected]);
  useEffect(() => seen?.(last - 1), [last, length]);

  const moveTo = (row: number) => {
    const target = Math.max(0, Math.min(row, length - 1));
    setActive(target);
    const element = scroller.current;
    if (!element) return;
    const room = element.clientHeight - HEAD - LIST_ROW;
    const top = target * LIST_ROW;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top > element.scrollTop + room) element.scrollTop = top - room;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target !== scroller.current) return;
    const page = Math.max(Math.floor((place.height - HEAD) / LIST_ROW) - 1, 1);
    const turned = props.levels ? turnOf(props.levels, event.key, at) : null;
    const target = turned ?? stepOf(event.key, at, page, length);
    if (target !== null) moveTo(target);
    else if ((event.key === "Enter" || event.key === " ") && length > 0) choose(at);
    else return;
    event.preventDefault();
  };
  const template = columns
    .map(({ width }) => (width === undefined ? `minmax(${LEAST}px, 1fr)` : `${width}px`))
    .join(" ");
  const least = columns.reduce((sum, { width = LEAST }) => sum + width, 0);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: either role is of a table with a focus
    <div
      class="inner-focus trace-rows"
      ref={scroller}
      role={props.levels ? "treegrid" : "grid"}
      aria-label={label}
      aria-rowcount={(props.total ?? length) + 1}
      aria-colcount={columns.length}
      aria-activedescendant={length > 0 && at >= first && at < last ? `${id}-${at}` : undefined}
      tabIndex={0}
      style={{ "--columns": template, "--least": `${least}px` }}
      onScroll={(event) => {
        const { scrollTop, clientHeight } = event.currentTarget;
        setPlace({ top: scrollTop, height: clientHeight });
      }}
      onKeyDown={onKeyDown}
    >
      <div class="trace-rows-head trace-row" role="row" aria-rowindex={1}>
        {columns.map((column) => (
          <div
            key={column.id}
            role="columnheader"
            class={column.isNumber ? "trace-cell number" : "trace-cell"}
            aria-sort={
              sort?.id === column.id ? (sort.isDescending ? "descending" : "ascending") : undefined
            }
          >
            {column.isSortable && props.onSort ? (
              <button type="button" class="trace-sort" onClick={() => props.onSort?.(column.id)}>
                {column.title}
                <span class="sort-mark" aria-hidden="true">
                  {sort?.id === column.id ? (sort.isDescending ? "▼" : "▲") : ""}
                </span>
              </button>
            ) : (
              column.title
            )}
          </div>
        ))}
      </div>
      <div class="trace-rows-body" role="rowgroup" style={{ height: `${length * LIST_ROW}px` }}>
        {Array.from({ length: Math.max(last - first, 0) }, (_, index) => {
          const row = first + index;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys go to the table
            <div
              key={row}
              id={`${id}-${row}`}
              role="row"
              aria-rowindex={row + 2}
              aria-selected={row === selected}
              aria-level={props.levels?.level(row)}
              aria-expanded={props.levels?.isOpen(row) ?? undefined}
              class={`trace-row${row === at ? " active" : ""}`}
              style={{ transform: `translateY(${row * LIST_ROW}px)` }}
              onClick={() => {
                setActive(row);
                choose(row);
              }}
            >
              {columns.map((column) => (
                <div
                  key={column.id}
                  role="gridcell"
                  class={column.isNumber ? "trace-cell number" : "trace-cell"}
                >
                  {column.cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
      {length === 0 ? (
        <div role="row" class="trace-rows-empty">
          <div role="gridcell">{props.empty}</div>
        </div>
      ) : null}
    </div>
  );
}

/** The row that a key leads to from row `at`; null for other keys. */
function stepOf(key: string, at: number, page: number, length: number): number | null {
  switch (key) {
    case "ArrowDown":
      return at + 1;
    case "ArrowUp":
      return at - 1;
    case "PageDown":
      return at + page;
    case "PageUp":
      return at - page;
    case "Home":
      return 0;
    case "End":
      return length - 1;
    default:
      return null;
  }
}

/** Expands or collapses row `at`, or returns the row to go to; null for other keys. */
function turnOf({ level, isOpen, turn }: RowLevels, key: string, at: number): number | null {
  if (key === "ArrowRight") {
    if (isOpen(at) === false) turn(at);
    return isOpen(at) === true ? at + 1 : at;
  }
  if (key !== "ArrowLeft") return null;
  if (isOpen(at) === true) {
    turn(at);
    return at;
  }
  let above = at - 1;
  while (above >= 0 && level(above) >= level(at)) above--;
  return above < 0 ? at : above;
}
