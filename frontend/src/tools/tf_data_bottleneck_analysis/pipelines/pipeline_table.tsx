/** The table of all input pipelines with call counts and latencies; a click chooses one. */
import { useMemo } from "preact/hooks";
import type { Cell } from "../../../base/csv";
import { columnScale, formatCount, formatTime, plural, type Scale } from "../../../base/format";
import { saveCsv } from "../../../base/save";
import { microseconds } from "../../../base/units";
import type { View } from "../../../base/url_state";
import { LinkButton, SmallButton } from "../../../widgets/controls/buttons";
import { Card } from "../../../widgets/text/card";
import { Name } from "../../../widgets/text/name";
import type { Select } from "../../tool";
import { type Pipeline, SLOW_US, type TfData } from "../payload";
import { type Bins, LatencyHistogram, usedBins } from "./latency_histogram";
import {
  bottleneckOf,
  COLUMNS,
  nextOrder,
  type PipelineColumn,
  readOrder,
  sortPipelines,
} from "./pipeline_order";

interface PipelineTableProps {
  readonly data: TfData;
  readonly view: View;
  readonly select: Select;
  readonly choose: (pipeline: Pipeline) => void;
  readonly fileName: string;
}

const FEW = 12;
const PAGE = 100;
const TIMES = ["min", "mean", "p95", "max"] as const;

export function PipelineTable({ data, view, select, choose, fileName }: PipelineTableProps) {
  const { pipelines, edges, bottlenecks, graph } = data;
  const order = readOrder(view.pipelines);
  const sorted = useMemo(
    () => sortPipelines(pipelines, order),
    [pipelines, order.column, order.isReversed],
  );
  const bins = useMemo(
    () =>
      usedBins(
        edges,
        pipelines.map(({ histogram }) => histogram),
      ),
    [edges, pipelines],
  );
  const scales = useMemo(
    () =>
      new Map<string, Scale>(
        TIMES.map((time) => [
          time,
          columnScale(
            "time",
            pipelines.reduce((most, pipeline) => Math.max(most, pipeline[time] || 0), 0),
          ),
        ]),
      ),
    [pipelines],
  );
  const most = Math.max(FEW, Number(/^\d{1,6}$/.exec(view.shown ?? "")?.[0] ?? 0));
  const isDrawn = bins.last >= bins.first;
  return (
    <Card
      class="tf-pipelines"
      title="Summary of all input pipelines"
      why={{
        formula: `How long each call of a pipeline's outermost iterator took; slow calls take longer than ${SLOW_US} µs.`,
        unit: "time, in the unit of the header",
        source: "Host events of tf.data iterators, on all chosen hosts.",
      }}
      head={
        <>
          <span class="muted">click one to show it in the graph below</span>
          <span class="space" />
          <SmallButton onClick={() => savePipelines(fileName, sorted, data)}>
            Export as CSV
          </SmallButton>
        </>
      }
    >
      <div class="tf-scroller" tabIndex={-1}>
        <table>
          <thead>
            <tr>
              {COLUMNS.map((column) => (
                <Head
                  key={column.id}
                  column={column}
                  unit={scales.get(column.id)?.unit ?? ""}
                  sorted={column === order.column ? (order.isReversed ? "up" : "down") : ""}
                  sort={() => select({ pipelines: nextOrder(order, column) })}
                />
              ))}
              <th scope="col" class="tf-latencies">
                Latencies {isDrawn ? <BinRange bins={bins} /> : null}
              </th>
              <th scope="col" class="tf-bottleneck-cell">
                Bottleneck
              </th>
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, most).map((pipeline) => {
              const isChosen = pipeline.host === graph.host && pipeline.name === graph.pipeline;
              const bottleneck = bottleneckOf(bottlenecks, pipeline);
              return (
                <tr
                  key={`${pipeline.host}\n${pipeline.name}`}
                  class={isChosen ? "chosen" : undefined}
                  aria-current={isChosen ? "true" : undefined}
                  onClick={() => choose(pipeline)}
                >
                  <td class="text">
                    <Name text={pipeline.host} />
                  </td>
                  <th scope="row" class="text">
                    <LinkButton aria-pressed={isChosen}>{pipeline.name.slice(0, 200)}</LinkButton>
                    <Notes pipeline={pipeline} />
                  </th>
                  <td>{formatCount(pipeline.calls)}</td>
                  <td class={pipeline.slowCalls > 0 ? "tf-slow" : undefined}>
                    {formatCount(pipeline.slowCalls)}
                  </td>
                  {TIMES.map((time) => (
                    <td key={time} title={formatTime(pipeline[time])}>
                      {scales.get(time)?.format(pipeline[time])}
                    </td>
                  ))}
                  <td class="tf-latencies">
                    {isDrawn ? <LatencyHistogram counts={pipeline.histogram} bins={bins} /> : null}
                  </td>
                  <td class="text tf-bottleneck-cell" title={bottleneck?.longName.slice(0, 2000)}>
                    {bottleneck?.type.slice(0, 200) || <NoBottleneck pipeline={pipeline} />}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {sorted.length > most ? (
        <LinkButton onClick={() => select({ shown: String(most + PAGE) })}>
          {plural(sorted.length - most, "more pipeline")}
        </LinkButton>
      ) : null}
    </Card>
  );
}

interface HeadProps {
  readonly column: PipelineColumn;
  readonly unit: string;
  readonly sorted: "up" | "down" | "";
  readonly sort: () => void;
}

function Head({ column: { id, title }, unit, sorted, sort }: HeadProps) {
  const isText = id === "host" || id === "name";
  // By default, numbers are sorted in descending, texts in ascending order.
  const isAscending = isText === (sorted === "down");
  return (
    <th
      scope="col"
      class={isText ? "text" : undefined}
      aria-sort={sorted === "" ? undefined : isAscending ? "ascending" : "descending"}
    >
      <button type="button" class="bare tf-sort" onClick={sort}>
        {title}
        {unit ? <span class="unit">({unit})</span> : null}
        <span class="sort-mark" aria-hidden="true">
          {sorted === "" ? "" : isAscending ? "▲" : "▼"}
        </span>
      </button>
    </th>
  );
}

function BinRange({ bins: { edges, first, last } }: { bins: Bins }) {
  return (
    <span class="unit">
      {formatTime(microseconds(edges[first]))} – {formatTime(microseconds(edges[last + 1]))}
      {edges[first] < SLOW_US && edges[last + 1] > SLOW_US ? `, line at ${SLOW_US} µs` : ""}
    </span>
  );
}

function Notes({ pipeline }: { pipeline: Pipeline }) {
  const notes = [
    pipeline.drawsFrom === "" ? "" : `draws from ${pipeline.drawsFrom.slice(0, 100)}`,
    pipeline.isPartial ? "partly recorded" : "",
  ].filter(Boolean);
  if (notes.length === 0) return null;
  return (
    <span
      class="muted tf-note"
      title={
        pipeline.isPartial
          ? "Its outermost iterator was not recorded, so calls are those of the outermost recorded one"
          : undefined
      }
    >
      {" "}
      {notes.join(", ")}
    </span>
  );
}

function NoBottleneck({ pipeline }: { pipeline: Pipeline }) {
  const reason = pipeline.isDevice
    ? "It waits for the host's pipeline, which is analyzed instead"
    : "No iterator of its slowest call has self time";
  return (
    <span class="muted" title={reason}>
      –
    </span>
  );
}

function savePipelines(fileName: string, pipelines: readonly Pipeline[], data: TfData): void {
  function* lines(): Generator<Cell[]> {
    yield [
      "Host",
      "Input pipeline",
      "Calls",
      "Slow calls",
      "Min (µs)",
      "Avg (µs)",
      "Median (µs)",
      "95th percentile (µs)",
      "Max (µs)",
      "Total (µs)",
      "Draws from",
      "Bottleneck",
      "Long name",
    ];
    for (const pipeline of pipelines) {
      const bottleneck = bottleneckOf(data.bottlenecks, pipeline);
      yield [
        pipeline.host,
        pipeline.name,
        pipeline.calls,
        pipeline.slowCalls,
        pipeline.min,
        pipeline.mean,
        pipeline.p50,
        pipeline.p95,
        pipeline.max,
        pipeline.total,
        pipeline.drawsFrom,
        bottleneck?.type ?? "",
        bottleneck?.longName ?? "",
      ];
    }
  }
  saveCsv(fileName, lines());
}
