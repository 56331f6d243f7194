/** The columns of a step as a table and as a CSV file: a row per worker. */
import { useMemo } from "preact/hooks";
import { type DataTable, encodeTexts, numberColumn, tableOf } from "../../../api/data_table";
import type { Cell } from "../../../base/csv";
import { saveCsv } from "../../../base/save";
import { LocalTable } from "../../../widgets/grid/local_table";
import { stepName } from "../../../widgets/step_chart/steps";
import { numberSpec, textSpec } from "../../../widgets/table/specs";
import type { Pod } from "../payload";
import type { StepCells } from "../step/step_cells";

interface ColumnTableProps {
  readonly pod: Pod;
  readonly cells: StepCells;
  readonly height: number;
  readonly toTimeline: (worker: number) => void;
}

export function ColumnTable({ pod, cells, height, toTimeline }: ColumnTableProps) {
  const table = useMemo(() => stepTable(pod, cells), [pod, cells]);
  const time = (id: string, title: string) =>
    numberSpec(id, title, "time", Math.max(110, 50 + title.length * 7), "none");
  return (
    <LocalTable
      label={`${stepName(pod.steps, cells.step)} by worker`}
      table={table}
      specs={[
        { ...textSpec("worker", "Worker", 170, true), isSticky: true },
        textSpec("host", "Host", 140, true),
        time("total", "Step time"),
        textSpec("bottleneck", "Largest part", 150, true),
        ...pod.phases.map(({ id, label }) => time(`of ${id}`, label)).toReversed(),
        textSpec("whole", "Fully recorded", 130, true),
      ]}
      rankBy="total"
      noun="worker"
      height={height}
      toTimeline={(row) => toTimeline(cells.worker[row])}
    />
  );
}

export function saveColumnCsv(
  fileName: string,
  pod: Pod,
  cells: StepCells,
  rows: Int32Array,
): void {
  const head = [
    "Worker",
    "Host",
    "Step time (µs)",
    ...pod.phases.map(({ label }) => `${label} (µs)`),
    "Largest part",
    "Fully recorded",
  ];
  const lines = Array.from(rows, (row): Cell[] => [
    pod.workers.names[cells.worker[row]],
    pod.hosts[pod.workers.host[cells.worker[row]]] ?? "",
    cells.total[row],
    ...cells.phases.map((values) => values[row]),
    pod.phases[cells.bottleneck[row]]?.label ?? "",
    !cells.isTruncated[row],
  ]);
  saveCsv(fileName, [head, ...lines]);
}

function stepTable({ phases, workers, hosts }: Pod, cells: StepCells): DataTable {
  const rows = Array.from(cells.worker);
  return tableOf([
    encodeTexts(
      "worker",
      "Worker",
      rows.map((row) => workers.names[row]),
    ),
    encodeTexts(
      "host",
      "Host",
      rows.map((row) => hosts[workers.host[row]] ?? ""),
    ),
    numberColumn("total", "Step time", cells.total),
    encodeTexts(
      "bottleneck",
      "Largest part",
      Array.from(cells.bottleneck, (at) => phases[at]?.label ?? null),
    ),
    ...phases.map(({ id, label }, index) => numberColumn(`of ${id}`, label, cells.phases[index])),
    {
      kind: "flag",
      id: "whole",
      label: "Fully recorded",
      values: Int8Array.from(cells.isTruncated, (isTruncated) => (isTruncated ? 0 : 1)),
    },
  ]);
}
