/** The sort order of the pipeline table, stored in the address. */
import type { Bottleneck, Pipeline } from "../payload";

export interface PipelineColumn {
  readonly id: string;
  readonly title: string;
  /** Numbers are sorted in descending, texts in alphabetical order. */
  readonly value: (pipeline: Pipeline) => number | string;
}

export const COLUMNS: readonly PipelineColumn[] = [
  { id: "host", title: "Host", value: ({ host }) => host },
  { id: "name", title: "Input pipeline", value: ({ name }) => name },
  { id: "calls", title: "Calls", value: ({ calls }) => calls },
  { id: "slow", title: "Slow calls", value: ({ slowCalls }) => slowCalls },
  { id: "min", title: "Min", value: ({ min }) => min },
  { id: "mean", title: "Avg", value: ({ mean }) => mean },
  { id: "p95", title: "95th pct.", value: ({ p95 }) => p95 },
  { id: "max", title: "Max", value: ({ max }) => max },
];

interface PipelineOrder {
  readonly column: PipelineColumn;
  readonly isReversed: boolean;
}

/** Parses "mean" or "-mean"; by default, by the longest call. */
export function readOrder(text: string | undefined): PipelineOrder {
  const id = (text ?? "").replace(/^-/, "");
  const column = COLUMNS.find((candidate) => candidate.id === id);
  return column
    ? { column, isReversed: text !== id }
    : { column: COLUMNS[COLUMNS.length - 1], isReversed: false };
}

/** The address after a click on a column. */
export function nextOrder({ column, isReversed }: PipelineOrder, clicked: PipelineColumn): string {
  return column === clicked && !isReversed ? `-${clicked.id}` : clicked.id;
}

/** Unknown values come last. */
export function sortPipelines(
  pipelines: readonly Pipeline[],
  { column, isReversed }: PipelineOrder,
): Pipeline[] {
  const sign = isReversed ? -1 : 1;
  return pipelines.toSorted((a, b) => {
    const [left, right] = [column.value(a), column.value(b)];
    if (typeof left === "string" || typeof right === "string")
      return sign * String(left).localeCompare(String(right), "en", { numeric: true });
    if (Number.isNaN(left) || Number.isNaN(right))
      return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
    return sign * (right - left);
  });
}

export function bottleneckOf(
  bottlenecks: readonly Bottleneck[],
  pipeline: Pipeline,
): Bottleneck | undefined {
  return bottlenecks.find(
    (bottleneck) => bottleneck.host === pipeline.host && bottleneck.pipeline === pipeline.name,
  );
}
