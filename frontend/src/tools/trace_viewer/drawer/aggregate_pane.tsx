/** Sums of events: those in a range, or all events in view. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { toTsv } from "../../../base/csv";
import { columnScale, formatRatio, NOT_MEASURED, plural, type Scale } from "../../../base/format";
import { foldName, foldNames, readableName } from "../../../base/names";
import { ratio } from "../../../base/units";
import { CopyButton } from "../../../widgets/controls/copy_button";
import { type RowColumn, RowList, type RowSort } from "../../../widgets/row_list/row_list";
import { Name } from "../../../widgets/text/name";
import { formatPs } from "../model/time";
import type { Span } from "../model/types";
import type { Page } from "../page/page";
import { revealLane } from "../page/selection/reveal";
import type { AggregateBy } from "../protocol/answers";
import { type AggregateSums, aggregate, chooseTracks, countTracks } from "./aggregates";
import { NoAnswer, useAnswer } from "./answer";

interface Summed {
  readonly span: Span;
  readonly by: AggregateBy;
  /** Which tracks are included, in words. */
  readonly of: string;
  /** null: nothing to sum. */
  readonly sums: AggregateSums | null;
}

const WAYS: readonly AggregateBy[] = ["name", "category", "track"];
const PS_PER_US = 1e6;
const MOST_COMPARED = 5000;

/** `of`: "range" for the box or the ruler, "view" for what is on screen. */
export function AggregatePane({ page, of }: { page: Page; of: "range" | "view" }) {
  const { model, by } = page;
  const { value, error, isLoading } = useAnswer<Summed>(page, () => {
    const range = model.range.value;
    if (of === "range" && range === null) return null;
    const chosen = of === "range" ? range : null;
    const span = chosen ? { from: chosen.from, to: chosen.to } : model.view.value;
    const tracks = chosen?.tracks ?? null;
    const way = by.value;
    const { sets, excluded } = chooseTracks(page, tracks);
    const count = tracks === null ? 0 : countTracks(sets);
    return async (signal) => {
      const sums = await aggregate(page, span, sets, way, signal);
      return { span, by: way, of: describe(count, excluded), sums };
    };
  });
  if (of === "range" && model.range.value === null) {
    return (
      <p class="trace-note muted">
        No range is selected. Drag a box with the select tool <kbd>1</kbd>, or a ruler with the
        timing tool <kbd>4</kbd>, to sum up its events here.
      </p>
    );
  }
  if (error.value !== null) return <NoAnswer error={error.value} />;
  if (value.value === null) return <p class="trace-note muted">Summing up…</p>;
  return <SumTable page={page} summed={value.value} isLoading={isLoading.value} />;
}

/** " on 3 tracks, 1 derived track excluded": the number of tracks is given for boxes only. */
function describe(count: number, excluded: number): string {
  const on = count > 0 ? ` on ${plural(count, "track")}` : "";
  return excluded > 0 ? `${on}, ${plural(excluded, "derived track")} excluded` : on;
}

interface SumTableProps {
  readonly page: Page;
  readonly summed: Summed;
  readonly isLoading: boolean;
}

function SumTable({ page, summed, isLoading }: SumTableProps) {
  const sort = useSignal<RowSort | null>(null);
  const { sums, span, of } = summed;
  const columns = useMemo(() => (sums ? sumColumns(sums, summed.by) : []), [summed]);
  const order = useMemo(
    () => (sums ? sortedRows(sums, sort.value) : new Uint32Array()),
    [sums, sort.value],
  );
  const placed = useMemo(
    () => columns.map((column) => ({ ...column, cell: (row: number) => column.cell(order[row]) })),
    [columns, order],
  );
  const measured = sums ? sums.busyPs + sums.idlePs : Number.NaN;
  return (
    <>
      <div class="trace-sums" aria-busy={isLoading}>
        <ByChoice page={page} />
        <span>
          <b>{plural(sums?.events ?? 0, "event")}</b> in {formatPs(span.to - span.from)}
          <span
            class="muted"
            title="Steps, programs, scopes and ops of devices repeat work that other tracks show, which would be counted twice"
          >
            {of}
          </span>
        </span>
        {sums && measured > 0 ? (
          <span title="Busy: something runs on some of the tracks. Idle: nothing does.">
            busy {formatPs(sums.busyPs)} ({formatRatio(ratio(sums.busyPs / measured))}), idle{" "}
            {formatPs(sums.idlePs)}
          </span>
        ) : null}
        <span class="space" />
        {sums && sums.key.length > 0 ? (
          <CopyButton
            text={() => sumText(sums, order)}
            label="Copy table"
            title="Copy table as text, with times in µs"
          />
        ) : null}
      </div>
      <RowList
        label={`Events by ${summed.by}`}
        columns={placed}
        length={order.length}
        sort={sort.value ?? { id: "self", isDescending: true }}
        onSort={(id) => {
          sort.value = nextSort(sort.peek() ?? { id: "self", isDescending: true }, id);
        }}
        selected={-1}
        choose={(row) => sums && markRow(page, summed.by, sums, order[row])}
        empty="There are no events in this range."
        of={summed.by}
      />
    </>
  );
}

function ByChoice({ page }: { page: Page }) {
  return (
    <fieldset class="trace-by">
      <legend class="unseen">Sum by</legend>
      {WAYS.map((way) => (
        <label key={way}>
          <input
            type="radio"
            name="trace-by"
            checked={page.by.value === way}
            onChange={() => {
              page.by.value = way;
            }}
          />
          <span>by {way}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Handles a click on a row: highlights its events, or shows its track. */
function markRow({ model }: Page, by: AggregateBy, sums: AggregateSums, row: number): void {
  const lane = sums.lanes[row];
  if (by === "track" && lane !== undefined) revealLane(model, lane);
  else {
    const key = sums.key[row];
    const isOneOfSeveral = sums.key.filter((other) => other === key).length > 1;
    const kind = isOneOfSeveral && sums.category[row] ? `category:${sums.category[row]} ` : "";
    const text = by === "name" ? `${kind}whole:${key}` : `category:${key}`;
    model.search.value = { text, isRegex: false, isCase: true };
  }
}

type AggregateColumn = "count" | "totalPs" | "selfPs" | "meanPs" | "minPs" | "maxPs" | "share";

const NUMBERS: readonly (readonly [id: string, column: AggregateColumn, title: string])[] = [
  ["count", "count", "Count"],
  ["total", "totalPs", "Total"],
  ["self", "selfPs", "Self"],
  ["mean", "meanPs", "Average"],
  ["min", "minPs", "Minimum"],
  ["max", "maxPs", "Maximum"],
  ["share", "share", "Share of self"],
];

function sumColumns(sums: AggregateSums, by: AggregateBy): RowColumn[] {
  const title = { name: "Name", category: "Category", track: "Track" }[by];
  const readable = sums.key.map(readableName);
  // Names that fold to the same text are kept distinguishable, unless there are too many.
  const folded = readable.length > MOST_COMPARED ? readable.map(foldName) : foldNames(readable);
  return [
    {
      id: "key",
      title,
      isSortable: true,
      cell: (row) => <Name text={folded[row] || "(no name)"} full={sums.key[row]} />,
    },
    ...(by === "name"
      ? [
          {
            id: "category",
            title: "Category",
            width: 150,
            isSortable: true,
            cell: (row: number) => sums.category[row],
          },
        ]
      : []),
    ...NUMBERS.map(([id, column, name]): RowColumn => {
      const values = sums[column];
      const scale = scaleOf(column, values);
      return {
        id,
        title: scale.unit === "" || scale.unit === "%" ? name : `${name} (${scale.unit})`,
        width: 108,
        isNumber: true,
        isSortable: true,
        cell: (row) => numberCell(values[row], column, scale),
      };
    }),
  ];
}

function numberCell(value: number, column: AggregateColumn, scale: Scale) {
  if (Number.isNaN(value)) return <span title="Not measured">{NOT_MEASURED}</span>;
  if (column !== "share") return scale.format(column === "count" ? value : value / PS_PER_US);
  return (
    <>
      <span class="share-bar" style={{ width: `${Math.min(value, 1) * 100}%` }} />
      <span class="bar-text">{formatRatio(ratio(value))}</span>
    </>
  );
}

function scaleOf(column: AggregateColumn, values: Float64Array): Scale {
  const max = values.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0);
  if (column === "count") return columnScale("count", max);
  if (column === "share") return columnScale("ratio", max);
  const times = values.map((value) => value / PS_PER_US);
  return columnScale("time", max / PS_PER_US, "", times);
}

/** The sorted rows; null for the server's order, by descending self time. */
function sortedRows(sums: AggregateSums, sort: RowSort | null): Uint32Array {
  const rows = Uint32Array.from(sums.key.keys());
  if (sort === null) return rows;
  const sign = sort.isDescending ? -1 : 1;
  const column = NUMBERS.find(([id]) => id === sort.id)?.[1];
  if (column) {
    const values = sums[column];
    // NaN, which means not measured, comes last.
    const key = (row: number) =>
      Number.isNaN(values[row]) ? Number.POSITIVE_INFINITY : sign * values[row];
    return rows.sort((a, b) => key(a) - key(b) || a - b);
  }
  const texts = sort.id === "category" ? sums.category : sums.key;
  return rows.sort((a, b) => sign * texts[a].localeCompare(texts[b]) || a - b);
}

function nextSort(sort: RowSort, id: string): RowSort {
  if (sort.id === id) return { id, isDescending: !sort.isDescending };
  return { id, isDescending: id !== "key" && id !== "category" };
}

function sumText(sums: AggregateSums, order: Uint32Array): string {
  const head = ["Key", "Category", ...NUMBERS.map(([, column, title]) => withUnit(title, column))];
  const rows = [...order].map((row) => [
    sums.key[row],
    sums.category[row],
    ...NUMBERS.map(([, column]) =>
      column.endsWith("Ps") ? sums[column][row] / PS_PER_US : sums[column][row],
    ),
  ]);
  return toTsv([head, ...rows]);
}

function withUnit(title: string, column: AggregateColumn): string {
  return column.endsWith("Ps") ? `${title} (µs)` : title;
}
