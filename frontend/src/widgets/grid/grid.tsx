/** The rows of a table, of which only the visible ones exist as elements. */
import { type Signal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { formatCount } from "../../base/format";
import { bindKeys, runKey } from "../../base/keys";
import { copyText } from "../../base/save";
import { useHeight } from "../chart/use_size";
import type { RowTest } from "../table/filter";
import type { Groups } from "../table/group";
import { clearFilters, rowsOf, type TableModel } from "../table/model";
import "./grid.css";
import { FilterRow } from "./filter_row";
import { GridFoot } from "./grid_foot";
import { GridHead } from "./grid_head";
import { gridKeys } from "./grid_keys";
import { GridRow } from "./grid_row";
import { type Layout, layItems, offsetOf, positionAt } from "./layout";
import { columnPlaces } from "./places";
import { fittingWidth } from "./resizer";
import { useWidths } from "./widths";

interface GridProps {
  readonly model: TableModel;
  readonly label: string;
  /** Rows of the payload that a chart points at. */
  readonly highlight?: Signal<RowTest | null>;
  /** Told which row of the payload is under the pointer, null for none. */
  readonly pointAt?: (row: number | null) => void;
  /** A row of the payload to bring into view and open; it is null again when that is done. */
  readonly opened?: Signal<number | null>;
  /** What a row opens, given its place in the payload. */
  readonly detail: (row: number) => ComponentChildren;
  /** What a group of several rows opens above them. */
  readonly groupDetail?: (rows: Uint32Array) => ComponentChildren;
  readonly detailHeight?: number;
  /** Shows where on the timeline a row of the payload is. */
  readonly toTimeline?: (row: number) => void;
  readonly groupToTimeline?: (rows: Uint32Array) => void;
}

const OVERSCAN = 6;
/** Pixels of what a row opens. */
const DETAIL_HEIGHT = 232;

export function Grid(props: GridProps) {
  const { model, label, highlight, detail, groupDetail, toTimeline, groupToTimeline } = props;
  const { detailHeight = DETAIL_HEIGHT } = props;
  const { order, groups, visible, isDense } = model;
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const height = useHeight(scroller);
  const head = useRef<HTMLDivElement>(null);
  const [scrollTop, setScrollTop] = useState(0);
  const [active, setActive] = useState(0);
  const [expanded, setExpanded] = useState<ReadonlySet<number>>(new Set());
  const items = useMemo(
    () => layItems(order, expanded, (group) => (groups ? rowsBelow(groups, group) : null)),
    [order, expanded, groups],
  );
  const open = useMemo(
    () => openPositions(items, expanded, groupDetail ? null : groups),
    [items, expanded, groups, groupDetail === undefined],
  );
  const rowHeight = isDense ? 22 : 28;
  const layout: Layout = { rowHeight, detailHeight, length: items.length, open };
  const first = Math.max(positionAt(layout, scrollTop) - OVERSCAN, 0);
  const last = Math.min(positionAt(layout, scrollTop + height) + OVERSCAN, items.length - 1);
  const [widths, setWidth] = useWidths(label);
  const places = useMemo(() => columnPlaces(visible, widths), [visible, widths]);

  // What was open belongs to other rows now.
  // The rows are what changed.
  useEffect(() => setExpanded(new Set()), [model.table, model.grouping]);
  // Groups are numbered by rank, which filters change; the rows of the payload keep their number.
  useEffect(() => {
    if (groups) setExpanded((before) => new Set([...before].filter((item) => item < 0)));
  }, [groups]);
  // A new order is read from its top.
  useEffect(() => {
    setActive(0);
    scroller.current?.scrollTo({ top: 0 });
  }, [order]);

  const at = Math.min(active, items.length - 1);
  const moveTo = (position: number) => {
    const target = Math.max(0, Math.min(position, items.length - 1));
    setActive(target);
    const element = scroller.current;
    if (!element) return;
    const room = element.clientHeight - (head.current?.offsetHeight ?? 0) - rowHeight;
    const top = offsetOf(layout, target);
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + room) element.scrollTop = top + rowHeight - room;
  };
  const toggle = (position: number, isOpen?: boolean) => {
    const item = items[position];
    if (item === undefined) return;
    const next = new Set(expanded);
    if (isOpen ?? !next.has(item)) next.add(item);
    else next.delete(item);
    setExpanded(next);
  };
  const latest = useRef(toggle);
  latest.current = toggle;
  const turn = useCallback((position: number) => {
    setActive(position);
    latest.current(position);
  }, []);
  const reveal = useRef((_row: number) => {});
  reveal.current = (row) => {
    const position = items.findIndex((item) => rowsOf(model, item).includes(row));
    if (position < 0) return;
    moveTo(position);
    toggle(position, true);
  };
  useSignalEffect(() => {
    const row = props.opened?.value ?? null;
    if (row === null || !props.opened) return;
    reveal.current(row);
    props.opened.value = null;
  });
  const natural = useCallback(
    (at: number) => (scroller.current ? fittingWidth(scroller.current, at) : 0),
    [],
  );
  const keys = gridKeys({
    at,
    page: Math.max(Math.floor(height / rowHeight) - 3, 1),
    length: items.length,
    moveTo,
    toggle,
    copy: () => void copyText(nameAt(model, items[at])),
    toTimeline:
      toTimeline &&
      (() => {
        if (items[at] === undefined) return;
        const rows = rowsOf(model, items[at]);
        if (rows.length === 1) toTimeline(rows[0]);
        else groupToTimeline?.(rows);
      }),
  });
  // For the help, any one set will do.
  useEffect(() => bindKeys(keys, true), []);

  return (
    <div
      class={isDense ? "grid dense" : "grid"}
      ref={scroller}
      role="treegrid"
      aria-label={label}
      aria-rowcount={items.length + 2}
      aria-colcount={visible.length}
      aria-activedescendant={
        items.length > 0 && at >= first && at <= last ? `${id}-${at}` : undefined
      }
      tabIndex={0}
      style={{ "--columns": places.template, "--width": `${places.width}px` }}
      onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
      onKeyDown={(event) => {
        if (event.target === scroller.current) runKey(keys, event);
      }}
    >
      <div class="grid-head" role="rowgroup" ref={head}>
        <GridHead model={model} places={places} resize={setWidth} natural={natural} />
        {model.isFilterRowOpen ? <FilterRow model={model} places={places} /> : null}
      </div>
      <div
        class="grid-body"
        role="rowgroup"
        style={{ height: `${offsetOf(layout, items.length)}px` }}
      >
        {Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => {
          const position = first + index;
          const item = items[position];
          return (
            <GridRow
              key={item}
              id={`${id}-${position}`}
              model={model}
              places={places}
              item={item}
              position={position}
              top={offsetOf(layout, position)}
              isActive={position === at}
              isOpen={expanded.has(item)}
              highlight={highlight}
              detail={detail}
              groupDetail={groupDetail}
              detailHeight={detailHeight}
              pointAt={props.pointAt}
              onSelect={setActive}
              onToggle={turn}
            />
          );
        })}
        {items.length === 0 ? <NoRows model={model} /> : null}
      </div>
      <GridFoot model={model} places={places} rowIndex={items.length + 2} />
    </div>
  );
}

function NoRows({ model }: { model: TableModel }) {
  return (
    <div class="grid-none" role="row">
      <div role="gridcell">
        {model.hasFilters
          ? `None of ${formatCount(model.table.length)} ${model.noun}s passes the filters. `
          : `There are no ${model.noun}s. `}
        {model.hasFilters ? (
          <button type="button" class="button small" onClick={() => clearFilters(model)}>
            Clear filters
          </button>
        ) : null}
      </div>
    </div>
  );
}

/** The rows that a group opens into; null where it is one row, which opens as one. */
function rowsBelow({ members }: Groups, group: number): Uint32Array | null {
  return members[group]?.length > 1 ? members[group] : null;
}

/** Positions whose detail is open: not those of `groups`, which open into rows. */
function openPositions(
  items: Int32Array,
  expanded: ReadonlySet<number>,
  groups: Groups | null,
): number[] {
  if (expanded.size === 0) return [];
  const open: number[] = [];
  items.forEach((item, position) => {
    if (expanded.has(item) && (item < 0 || !groups || rowsBelow(groups, item) === null))
      open.push(position);
  });
  return open;
}

function nameAt(model: TableModel, item: number | undefined): string {
  if (item === undefined) return "";
  const columns = item < 0 || !model.groups ? model.columns : model.groups.columns;
  const row = item < 0 ? -item - 1 : item;
  const data = columns.find((column) => column.isName)?.data;
  return data?.kind === "text" && data.codes[row] >= 0 ? data.strings[data.codes[row]] : "";
}
