/** The points of the upper chart as a table and as a CSV file. */
import { useMemo } from "preact/hooks";
import { type DataTable, encodeTexts, numberColumn, tableOf } from "../../../api/data_table";
import { saveCsv } from "../../../base/save";
import { LocalTable } from "../../../widgets/grid/local_table";
import type { ColumnSpec } from "../../../widgets/table/columns";
import { numberSpec } from "../../../widgets/table/specs";
import type { Heap } from "../payload";

const SPECS: readonly ColumnSpec[] = [
  numberSpec("event", "Event", "count", 96, "none"),
  { ...numberSpec("instruction", "Instruction", undefined, 320, "none"), isName: true },
  numberSpec("in_use", "In use", "bytes", 120, "none"),
  numberSpec("unpadded", "Without padding", "bytes", 140, "none"),
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
  saveCsv(fileName, [head, ...lines]);
}

function heapTable({ timeline }: Heap): DataTable {
  const { event, inUse, unpadded, instruction } = timeline;
  return tableOf([
    numberColumn("event", "Event", event),
    encodeTexts("instruction", "Instruction", instruction),
    numberColumn("in_use", "In use", inUse),
    numberColumn("unpadded", "Without padding", unpadded),
  ]);
}
