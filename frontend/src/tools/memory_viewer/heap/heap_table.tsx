/** The points of the upper chart as a table and as a CSV file. */
import { useMemo } from "preact/hooks";
import { type DataTable, encodeTexts, numberColumn } from "../../../api/data_table";
import { toCsv } from "../../../base/csv";
import { saveFile } from "../../../base/save";
import { LocalTable } from "../../../widgets/grid/local_table";
import type { ColumnSpec } from "../../../widgets/table/columns";
import type { Heap } from "../payload";

const SPECS: readonly ColumnSpec[] = [
  column("event", "Event", "count", 96),
  { ...column("instruction", "Instruction", undefined, 320), isName: true },
  column("in_use", "In use", "bytes", 120),
  column("unpadded", "Without padding", "bytes", 140),
];

export function HeapTable({ heap, height }: { readonly heap: Heap; readonly height: number }) {
  const table = useMemo(() => heapTable(heap), [heap]);
  return (
    <LocalTable
      label="Memory over the schedule"
      table={table}
      specs={SPECS}
      rankBy="in_use"
      noun="event"
      height={height}
    />
  );
}

export function saveHeapCsv(fileName: string, { timeline }: Heap): void {
  const { event, instruction, inUse, unpadded } = timeline;
  const lines = instruction.map((name, index) => [
    event[index],
    name,
    inUse[index],
    unpadded[index],
  ]);
  const head = ["Event", "Instruction", "In use (B)", "Without padding (B)"];
  saveFile(`${fileName}.csv`, new Blob([toCsv([head, ...lines])], { type: "text/csv" }));
}

function heapTable({ timeline }: Heap): DataTable {
  const { length, event, inUse, unpadded, instruction } = timeline;
  return {
    columns: [
      numberColumn("event", "Event", event),
      encodeTexts("instruction", "Instruction", instruction),
      numberColumn("in_use", "In use", inUse),
      numberColumn("unpadded", "Without padding", unpadded),
    ],
    length,
    properties: {},
    warnings: [],
  };
}

function column(
  id: string,
  title: string,
  quantity: ColumnSpec["quantity"],
  width: number,
): ColumnSpec {
  return { id, title, quantity, width, isShown: true, group: { how: "none" } };
}
