/** A virtualized table: only the visible rows exist as elements. */
import { type Signal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { bindKeys, runKey } from "../../base/keys";
import { copyText } from "../../base/save";
import { useHeight } from "../chart/use_size";
import { SmallButton } from "../controls/buttons";
import type { RowTest } from "../table/filter";
import type { Groups } from "../table/group";
import { clearFilters, rowsOf, type TableModel } from "../table/model";
import "./grid.css";
import { FilterRow } from "./filter_row";
import { GridFoot } from "./grid_foot";
import { GridHead } from "./grid_head";
import { gridKeys } from "./grid_keys";
import { GridRow } from "./grid_row";
import { type GridLayout, layItems, offsetOf, positionAt } from "./layout";
import { columnPlaces } from "./widths/places";
import { fittingWidth } from "./widths/resizer";
import { useWidths } from "./widths/widths";

interface GridProps {
  readonly model: TableModel;
  readonly label: string;
  /** Rows of the payload that a chart points at. */
  readonly highlight?: Signal<RowTest | null>;
  /** Called with the row of the payload under the pointer, or null. */
  readonly pointAt?: (row: number | null) => void;
  /** A row of the payload to bring into view and expand; reset to null when that is done. */
  readonly opened?: Signal<number | null>;
  /** The detail of an expanded row, given its index in the payload. */
  readonly detail: (row: number) => ComponentChildren;
  /** The detail of an expanded group, shown above its rows. */
  readonly groupDetail?: (rows: Uint32Array) => ComponentChildren;
  readonly detailHeight?: number;
  /** Shows a row of the payload on the timeline. */
  readonly toTimeline?: (row: number) => void;
  readonly groupToTimeline?: (rows: Uint32Array) => void;
}

const OVERSCAN = 6;
/** Of an expanded row's detail, in pixels. */
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
  const layout: GridLayout = { rowHeight, detailHeight, length: items.length, open };
  const first = Math.max(positionAt(layout, scrollTop) - OVERSCAN, 0);
  const last = Math.min(positionAt(layout, scrollTop + height) + OVERSCAN, items.length - 1);
  const [widths, setWidth] = useWidths(label);
  const places = useMemo(() => columnPlaces(visible, widths), [visible, widths]);

  // Other rows: nothing is expanded.
  useEffect(() => setExpanded(new Set()), [model.table, model.grouping]);
  // Filters change the numbers of groups, which are ranks. The rows of the payload keep theirs.
  useEffect(() => {
    if (groups) setExpanded((before) => new Set([...before].filter((item) => item < 0)));
  }, [groups]);
  // A new order is shown from its top.
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
  // Registered for the help only, so any set of these bindings will do.
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
          ? `No ${model.noun}s match the filters. `
          : `There are no ${model.noun}s. `}
        {model.hasFilters ? (
          <SmallButton onClick={() => clearFilters(model)}>Clear filters</SmallButton>
        ) : null}
      </div>
    </div>
  );
}

/** The rows shown below an expanded group; null for a single row, which expands as a row. */
function rowsBelow({ members }: Groups, group: number): Uint32Array | null {
  return members[group]?.length > 1 ? members[group] : null;
}

/** Positions with an expanded detail; not those of `groups`, which expand into rows. */
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
