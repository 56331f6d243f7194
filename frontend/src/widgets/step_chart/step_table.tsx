/** The data of a step chart as a table, and as a CSV file. */
import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { type DataTable, encodeTexts, numberColumn, tableOf } from "../../api/data_table";
import { saveCsv } from "../../base/save";
import { patchView, type View } from "../../base/url_state";
import { Grid } from "../grid/grid";
import type { ColumnSpec } from "../table/columns";
import { useTableModel } from "../table/model";
import { numberSpec, textSpec } from "../table/specs";
import { type Drawing, type StepAxis, type StepSeries, stepTotals } from "./steps";

interface StepTableProps {
  readonly title: string;
  readonly steps: StepAxis;
  readonly series: readonly StepSeries[];
  readonly quantity: "time" | "percent";
  readonly drawing: Drawing;
  readonly height?: number;
  readonly toTimeline?: (step: number) => void;
}

const NONE = signal(null);

export function StepChartTable(props: StepTableProps) {
  const { title, steps, series, quantity, drawing, height = 320, toTimeline } = props;
  const [view, setView] = useState<View>({});
  const { table, specs } = useMemo(
    () => stepTable(steps, series, quantity, drawing),
    [steps, series, quantity, drawing],
  );
  const model = useTableModel({
    table,
    specs,
    groupings: [],
    rankBy: "total",
    noun: "step",
    view,
    select: (patch) => setView((before) => patchView(before, patch)),
  });
  return (
    <div class="step-table" style={{ height: `${Math.max(height, 320)}px` }}>
      <Grid
        model={model}
        label={title}
        highlight={NONE}
        detail={() => null}
        toTimeline={toTimeline}
      />
    </div>
  );
}

export function saveStepsCsv(
  { fileName, steps, quantity }: Omit<StepTableProps, "series" | "drawing"> & { fileName: string },
  series: readonly StepSeries[],
): void {
  const unit = quantity === "time" ? "µs" : "%";
  const head = [
    "Step",
    ...series.map(({ label }) => `${label} (${unit})`),
    "Fully recorded",
    "Why it takes longer",
  ];
  const rows = steps.labels.map((label, step) => [
    label,
    ...series.map(({ values }) => values[step]),
    isWhole(steps, step),
    steps.outliers?.[step] ?? "",
  ]);
  saveCsv(fileName, [head, ...rows]);
}

function isWhole({ isTruncated, isUnrecorded }: StepAxis, step: number): boolean {
  return !isTruncated[step] && !isUnrecorded?.[step];
}

function stepTable(
  steps: StepAxis,
  series: readonly StepSeries[],
  quantity: "time" | "percent",
  drawing: Drawing,
): { table: DataTable; specs: readonly ColumnSpec[] } {
  const count = steps.labels.length;
  const isStack = drawing === "stack";
  const totals = stepTotals(series, count).map((total, step) =>
    steps.isUnrecorded?.[step] ? Number.NaN : total,
  );
  const shown = series.toReversed();
  const hasOutliers = steps.outliers?.some((reason) => reason !== "") ?? false;
  const table = tableOf([
    encodeTexts("step", "Step", steps.labels),
    ...(isStack ? [numberColumn("total", "Step time", totals)] : []),
    ...shown.map(({ id, label, values }) => numberColumn(`of ${id}`, label, values)),
    {
      kind: "flag",
      id: "whole",
      label: "Fully recorded",
      values: Int8Array.from(steps.labels, (_, step) => (isWhole(steps, step) ? 1 : 0)),
    },
    ...(hasOutliers ? [encodeTexts("why", "Why it takes longer", steps.outliers ?? [])] : []),
  ]);
  const number = (id: string, title: string) =>
    numberSpec(id, title, quantity, Math.max(90, 60 + title.length * 7.5), "none");
  const specs: ColumnSpec[] = [
    { ...textSpec("step", "Step", 140, true), isSticky: true },
    ...(isStack ? [number("total", "Step time")] : []),
    ...shown.map(({ id, label }) => number(`of ${id}`, label)),
    textSpec("whole", "Fully recorded", 130, true),
    ...(hasOutliers ? [textSpec("why", "Why it takes longer", 420, true)] : []),
  ];
  return { table, specs };
}
