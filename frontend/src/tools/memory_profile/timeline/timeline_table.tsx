/** The points of the timeline as a table and as a CSV file. */
import { useMemo } from "preact/hooks";
import { type DataTable, encodeTexts, tableOf } from "../../../api/data_table";
import type { Cell } from "../../../base/csv";
import { saveCsv } from "../../../base/save";
import { LocalTable } from "../../../widgets/grid/local_table";
import type { ColumnSpec } from "../../../widgets/table/columns";
import { inUse, type Memory } from "../payload";

const PS_PER_US = 1e6;

export function TimelineTable({
  memory,
  height,
}: {
  readonly memory: Memory;
  readonly height: number;
}) {
  const table = useMemo(() => timelineTable(memory), [memory]);
  return (
    <LocalTable
      label="Memory timeline"
      table={table}
      specs={table.columns.map((column): ColumnSpec => {
        const isNumber = column.kind === "number";
        return {
          id: column.id,
          title: column.label,
          // Whole µs, since three significant digits would not distinguish events.
          quantity: isNumber ? (column.id === "time" ? "count" : quantityOf(column.id)) : undefined,
          isName: column.id === "op",
          width: column.id === "op" ? 240 : Math.max(96, 56 + column.label.length * 7),
          isShown: true,
          isSticky: column.id === "time",
          group: { how: "none" },
        };
      })}
      rankBy="in_use"
      noun="point"
      height={height}
    />
  );
}

export function saveTimelineCsv(fileName: string, memory: Memory): void {
  const { columns, length } = timelineTable(memory);
  const unit = { time: "", ratio: "", bytes: " (B)" };
  const head = columns.map(({ id, label, kind }) =>
    kind === "number" ? `${label}${unit[quantityOf(id)]}` : label,
  );
  const lines = Array.from({ length }, (_, row) =>
    columns.map((column): Cell => {
      if (column.kind === "number")
        return Number.isNaN(column.values[row]) ? null : column.values[row];
      if (column.kind === "text")
        return column.codes[row] < 0 ? null : column.strings[column.codes[row]];
      return null;
    }),
  );
  saveCsv(fileName, [head, ...lines]);
}

function quantityOf(id: string): "time" | "bytes" | "ratio" {
  return id === "time" ? "time" : id === "fragmentation" ? "ratio" : "bytes";
}

function timelineTable({ timeline, texts, steps }: Memory): DataTable {
  const { length } = timeline;
  const number = (id: string, label: string, values: Float64Array) =>
    ({ kind: "number", id, label, isRatio: id === "fragmentation", values }) as const;
  const names = (id: string, label: string, of: Int32Array, from: readonly string[]) =>
    encodeTexts(
      id,
      label,
      Array.from(of, (at) => from[at] ?? null),
    );
  return tableOf([
    number(
      "time",
      "Timestamp (µs)",
      timeline.time.map((time) => time / PS_PER_US),
    ),
    encodeTexts(
      "event",
      "Event",
      Array.from(timeline.kind, (kind) => ["deallocation", "allocation"][kind] ?? null),
    ),
    number("requested", "Requested size", timeline.requested),
    number("allocated", "Allocation size", timeline.allocated),
    names("op", "Op", timeline.op, texts),
    names("step", "Step", timeline.step, steps.labels),
    names("region", "Region type", timeline.region, texts),
    names("dtype", "Data type", timeline.dtype, texts),
    names("shape", "Tensor shape", timeline.shape, texts),
    number(
      "in_use",
      "Memory in use",
      Float64Array.from({ length }, (_, index) => inUse(timeline, index)),
    ),
    number("stack", "Stack", timeline.stack),
    number("heap", "Heap", timeline.heap),
    number("free", "Free", timeline.free),
    number("fragmentation", "Fragmentation", timeline.fragmentation),
  ]);
}
