/** The card of a program's memory charts: heading, charts or table, and legend. */
import { useState } from "preact/hooks";
import { columnScale, formatBytes, formatCount } from "../../../base/format";
import { bytes } from "../../../base/units";
import { ChartMenu } from "../../../widgets/chart/chart_menu";
import { SmallButton } from "../../../widgets/controls/buttons";
import { Card } from "../../../widgets/text/card";
import type { Select } from "../../tool";
import type { Heap } from "../payload";
import { HeapPlot, PLOT_HEIGHT } from "./heap_plot";
import { HeapTable, saveHeapCsv } from "./heap_table";
import { PURPOSES, UNPADDED } from "./purposes";

interface HeapCardProps {
  readonly heap: Heap;
  readonly select: Select;
  readonly fileName: string;
}

export function HeapCard({ heap, select, fileName }: HeapCardProps) {
  const [isTable, setTable] = useState(false);
  const { timeline, figures, bars } = heap;
  const scale = columnScale("bytes", Math.max(figures.peak, bars.total));
  const isZoomed = timeline.from > 0 || timeline.to < figures.events;
  const picture = async () => {
    const { drawHeapSvg } = await import("./heap_picture");
    return drawHeapSvg(heap);
  };
  return (
    <Card
      class="snug heap-chart"
      title="Memory over the schedule"
      why={{
        formula:
          "Top: parameters, results and constants, which are in use throughout, and the temporary arrays that are allocated in the compiler's simulated heap after each of its events. An event allocates or frees an array at an instruction, in the order in which instructions run. Bottom: each array at its address range, from the event that allocates it to the one that frees it; gaps are free.",
        unit: `${scale.unit}; the axis counts events, not time`,
        source: "The buffer assignment of the program in the trace (HloProto.buffer_assignment).",
      }}
      head={
        <>
          <span class="heap-drawn muted one-line" role="status">
            {drawnText(heap)}
          </span>
          <span class="space" />
          {isZoomed ? (
            <SmallButton onClick={() => select({ from_event: null, to_event: null })}>
              All events
            </SmallButton>
          ) : null}
          <ChartMenu
            title="Memory over the schedule"
            isTable={isTable}
            setTable={setTable}
            fileName={`${fileName}_heap`}
            saveCsv={() => saveHeapCsv(`${fileName}_heap`, heap)}
            picture={picture}
          />
        </>
      }
    >
      {isTable ? (
        <HeapTable heap={heap} height={PLOT_HEIGHT + 44} />
      ) : (
        <>
          <div class="step-axis-title muted">
            Top: memory in use. Bottom: address range of each array ({scale.unit})
          </div>
          <HeapPlot heap={heap} select={select} scale={scale} />
          <div class="heap-below">
            <ul class="plain step-legend" aria-label="Colors">
              {PURPOSES.map(({ id, label, color }) => (
                <li key={id}>
                  <span class="swatch" style={{ background: color }} /> {label}
                </li>
              ))}
              {timeline.hasPadding ? (
                <li>
                  <span class="swatch heap-dashes" /> {UNPADDED.label}
                </li>
              ) : null}
            </ul>
            <span class="step-axis-title muted">Heap events, in schedule order</span>
          </div>
        </>
      )}
    </Card>
  );
}

function drawnText({ timeline, figures, bars }: Heap): string {
  const events = `${formatCount(figures.events)} events`;
  const sampled = timeline.isSampled
    ? `, drawn as ${formatCount(timeline.length)} points that preserve all extremes`
    : "";
  const left =
    bars.leftOut > 0
      ? `; ${formatCount(bars.leftOut)} small arrays (${formatBytes(bytes(bars.leftOutBytes))} in total) are not drawn`
      : "";
  return `${events}${sampled}${left}`;
}
