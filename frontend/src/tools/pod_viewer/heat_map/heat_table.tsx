/** The heat map as a table of statistics per worker, and all cells as a CSV file. */
import { useMemo } from "preact/hooks";
import { type DataTable, encodeTexts, numberColumn, tableOf } from "../../../api/data_table";
import type { Cell } from "../../../base/csv";
import { saveCsv } from "../../../base/save";
import { LocalTable } from "../../../widgets/grid/local_table";
import { numberSpec, textSpec } from "../../../widgets/table/specs";
import type { Measure } from "../measures";
import { cellOf, type Pod } from "../payload";

interface HeatTableProps {
  readonly pod: Pod;
  readonly measure: Measure;
  readonly values: Float32Array;
  readonly step: number;
  readonly toTimeline: (worker: number) => void;
}

export function HeatTable({ pod, measure, values, step, toTimeline }: HeatTableProps) {
  const table = useMemo(() => workerTable(pod, values, step), [pod, values, step]);
  const { quantity } = measure;
  const number = (id: string, title: string) => numberSpec(id, title, quantity, 130, "none");
  return (
    <LocalTable
      label={`${measure.label} by worker`}
      table={table}
      specs={[
        { ...textSpec("worker", "Worker", 170, true), isSticky: true },
        textSpec("host", "Host", 180, true),
        numberSpec("count", "Steps", "count", 130, "none"),
        number("average", "Average"),
        number("least", "Minimum"),
        number("most", "Maximum"),
        textSpec("at", "Step of maximum", 150, true),
        number("chosen", "Chosen step"),
      ]}
      rankBy="average"
      noun="worker"
      height={320}
      toTimeline={toTimeline}
    />
  );
}

/** Saves all cells: a row per worker, a column per step. */
export function saveHeatCsv(
  fileName: string,
  pod: Pod,
  measure: Measure,
  values: Float32Array,
): void {
  const unit = measure.quantity === "time" ? "µs" : "%";
  const { steps, workers, hosts } = pod;
  function* lines(): Generator<Cell[]> {
    yield ["Worker", "Host", ...steps.labels.map((label) => `${label} (${unit})`)];
    for (let worker = 0; worker < workers.count; worker++) {
      const first = cellOf(pod, worker, 0);
      const row = values.subarray(first, first + steps.count);
      const cells = Array.from(row, (value) => Number(value.toPrecision(6)));
      yield [workers.names[worker], hosts[workers.host[worker]] ?? "", ...cells];
    }
  }
  saveCsv(fileName, lines());
}

/** Statistics over the fully recorded steps, or over all steps if there are none. */
function workerTable(pod: Pod, values: Float32Array, step: number): DataTable {
  const { steps, workers, hosts } = pod;
  const hasWhole = steps.isTruncated.includes(false);
  const column = (id: string, label: string) =>
    numberColumn(id, label, new Float64Array(workers.count).fill(Number.NaN));
  const count = column("count", "Steps");
  const average = column("average", "Average");
  const least = column("least", "Minimum");
  const most = column("most", "Maximum");
  const chosen = column("chosen", "Chosen step");
  const slowest: string[] = [];
  for (let worker = 0; worker < workers.count; worker++) {
    let [sum, seen, low, high, at] = [0, 0, Number.NaN, Number.NaN, -1];
    for (let index = 0; index < steps.count; index++) {
      const value = values[cellOf(pod, worker, index)];
      if (Number.isNaN(value) || (hasWhole && steps.isTruncated[index])) continue;
      sum += value;
      seen += 1;
      if (!(value >= low)) low = value;
      if (!(value <= high)) [high, at] = [value, index];
    }
    count.values[worker] = seen;
    average.values[worker] = sum / seen;
    least.values[worker] = low;
    most.values[worker] = high;
    chosen.values[worker] = step < 0 ? Number.NaN : values[cellOf(pod, worker, step)];
    slowest.push(at < 0 ? "" : steps.labels[at]);
  }
  return tableOf([
    encodeTexts("worker", "Worker", workers.names),
    encodeTexts(
      "host",
      "Host",
      Array.from(workers.host, (host) => hosts[host] ?? ""),
    ),
    count,
    average,
    least,
    most,
    encodeTexts("at", "Step of maximum", slowest),
    chosen,
  ]);
}
