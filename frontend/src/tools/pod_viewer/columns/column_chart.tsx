/** One stacked column per worker: the parts of the chosen step on each. */
import { type Signal, useSignalEffect } from "@preact/signals";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { columnScale, formatCount, formatTime, plural } from "../../../base/format";
import { bindKeys, runKey } from "../../../base/keys";
import { microseconds } from "../../../base/units";
import { ChartMenu } from "../../../widgets/chart/chart_menu";
import { canvasPen } from "../../../widgets/chart/pen";
import { useTheme } from "../../../widgets/chart/theme_colors";
import { useWidth } from "../../../widgets/chart/use_size";
import { SmallButton } from "../../../widgets/controls/buttons";
import { Explained } from "../../../widgets/overlays/why";
import { stepName } from "../../../widgets/step_chart/steps";
import type { Select } from "../../tool";
import type { Pod } from "../payload";
import { median, type StepCells } from "../step/step_cells";
import { columnKeys } from "./column_keys";
import {
  arrangeColumns,
  type ColumnArrangement,
  columnAt,
  planColumns,
  planTicks,
} from "./column_plan";
import { ColumnTable, saveColumnCsv } from "./column_table";
import { AXIS_WIDTH, type ColumnDrawing, columnColors, drawStepColumns } from "./draw_columns";

interface ColumnChartProps {
  readonly pod: Pod;
  readonly cells: StepCells;
  readonly arrangement: ColumnArrangement;
  /** The minimum range of the axis in µs, so that steps are comparable while they play. */
  readonly usual: number;
  readonly worker: number | null;
  readonly pointed: Signal<number | null>;
  readonly select: Select;
  /** Shows a worker's chosen step on the timeline. */
  readonly toTimeline: (worker: number) => void;
  readonly fileName: string;
}

const HEIGHT = 300;
const MARKS = 6;

export function ColumnChart(props: ColumnChartProps) {
  const { pod, cells, arrangement, select, fileName } = props;
  const { isByHost, isLatestFirst } = arrangement;
  const id = useId();
  const [isTable, setTable] = useState(false);
  const rows = useMemo(
    () => arrangeColumns(pod, cells, { isByHost, isLatestFirst }),
    [pod, cells, isByHost, isLatestFirst],
  );
  const title = `${stepName(pod.steps, cells.step)} on every worker`;
  const hasHosts = pod.hosts.length > 1 && pod.hosts.length < pod.workers.count;
  const file = `${fileName}_step_${cells.step}`;
  const picture = async () => {
    const { drawColumnSvg } = await import("./column_picture");
    return drawColumnSvg(pod, cells, rows, { isByHost, isInOrder: !isLatestFirst });
  };
  return (
    <section class="card titled snug pod-columns" aria-labelledby={id}>
      <header class="card-head">
        <h2 id={id} class="cut">
          <Explained
            label={title}
            title="Step time on every worker"
            explanation={{
              formula:
                "Each instant of a worker's step belongs to one part: what the device does first, then what the host does, then all others. The dashed line is the median of the workers.",
              unit: "time",
              source: "Device and host events within the worker's step.",
            }}
          />
        </h2>
        <span class="space" />
        {hasHosts ? (
          <SmallButton
            aria-pressed={isByHost}
            title="The worker of each host with the most time without collectives"
            onClick={() => select({ columns: isByHost ? null : "hosts" })}
          >
            Slowest per host
          </SmallButton>
        ) : null}
        {pod.workers.count > 1 ? (
          <SmallButton
            aria-pressed={isLatestFirst}
            title="By time without collectives, in which early workers wait for late ones"
            onClick={() => select({ order: isLatestFirst ? null : "latest" })}
          >
            Slowest first
          </SmallButton>
        ) : null}
        <ChartMenu
          title={title}
          isTable={isTable}
          setTable={setTable}
          fileName={file}
          saveCsv={() => saveColumnCsv(file, pod, cells, rows)}
          picture={picture}
        />
      </header>
      {isTable ? (
        <ColumnTable pod={pod} cells={cells} height={HEIGHT + 40} toTimeline={props.toTimeline} />
      ) : (
        <>
          <ColumnPlot {...props} rows={rows} title={title} />
          <Legend pod={pod} cells={cells} />
        </>
      )}
    </section>
  );
}

function Legend({ pod, cells }: { pod: Pod; cells: StepCells }) {
  const shown = pod.phases.filter((_, index) => cells.phases[index].some((time) => time > 0));
  return (
    <ul class="plain color-key" aria-label="Parts, from the top of the stack">
      {shown.toReversed().map(({ id, label, color }) => (
        <li key={id}>
          <span class="swatch" style={{ background: color }} />
          {label}
        </li>
      ))}
    </ul>
  );
}

interface ColumnPlotProps extends ColumnChartProps {
  readonly rows: Int32Array;
  readonly title: string;
}

function ColumnPlot(props: ColumnPlotProps) {
  const { pod, cells, rows, arrangement, usual, worker, pointed, select, title } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const width = useWidth(scroller);
  const theme = useTheme();
  const plan = useMemo(() => planColumns(rows.length, width), [rows, width]);
  const most = cells.total.reduce((top, total) => Math.max(top, total), usual || 0);
  const scale = columnScale("time", most * 10);
  const middle = useMemo(() => median(cells.total), [cells]);
  const colors = useMemo(() => columnColors(pod), [pod, theme]);
  const draw = () => {
    if (!canvas.current || !scroller.current || width === 0) return;
    const drawing: ColumnDrawing = {
      pod,
      cells,
      rows,
      plan,
      ticks: planTicks(most, scale.factor, MARKS),
      scale,
      median: rows.length > 1 ? middle : Number.NaN,
      scroll: scroller.current.scrollLeft,
      width: width + AXIS_WIDTH,
      height: HEIGHT,
      selected: worker,
      pointed: pointed.peek(),
      isByHost: arrangement.isByHost,
      isInOrder: !arrangement.isLatestFirst,
      ...colors,
      font: `11px ${getComputedStyle(scroller.current).fontFamily}`,
    };
    const pen = canvasPen(canvas.current, drawing.width, HEIGHT);
    if (pen) drawStepColumns(pen, drawing);
  };
  const drawNow = useRef(draw);
  drawNow.current = draw;
  useLayoutEffect(draw, [pod, cells, rows, plan, most, worker, colors, width]);
  useSignalEffect(() => {
    void pointed.value;
    drawNow.current();
  });
  const columnOf = (chosen: number | null) =>
    rows.findIndex((row) => cells.worker[row] === (chosen ?? -1));
  const show = (column: number) => {
    const element = scroller.current;
    if (!element) return;
    const start = column * plan.pitch;
    const isSeen = start >= element.scrollLeft && start + plan.pitch <= element.scrollLeft + width;
    if (!isSeen) element.scrollLeft = start + plan.pitch / 2 - width / 2;
  };
  // Scrolls to a worker that was chosen elsewhere.
  useEffect(() => {
    const column = columnOf(worker);
    if (column >= 0) show(column);
  }, [worker, rows, plan]);
  const hit = (event: MouseEvent): number | null => {
    const element = scroller.current;
    if (!element) return null;
    const x = event.clientX - element.getBoundingClientRect().left + element.scrollLeft;
    const column = columnAt(plan, rows.length, x);
    return column < 0 ? null : cells.worker[rows[column]];
  };
  const choose = (chosen: number | null) => {
    if (chosen !== null) select({ worker: chosen === worker ? null : String(chosen) });
  };
  const keys = columnKeys({
    move: (by) => {
      const from = columnOf(pointed.peek() ?? worker);
      const column = Math.max(0, Math.min(from + by, rows.length - 1));
      pointed.value = cells.worker[rows[column]] ?? null;
      show(column);
    },
    choose: () => choose(pointed.peek()),
    leave: () => {
      pointed.value = null;
    },
  });
  // Registered for the help only, so any set of these bindings will do.
  useEffect(() => bindKeys(keys, true), []);
  const at = columnOf(pointed.value ?? worker);
  return (
    <>
      <p class="pod-axis-title muted">
        Time ({scale.unit})
        {rows.length > 1 ? ` · dashed: median ${formatTime(microseconds(middle))}` : ""}
        {arrangement.isByHost
          ? ` · the slowest worker of each of ${formatCount(rows.length)} hosts`
          : ""}
        {plan.total > width + 1 && !arrangement.isByHost
          ? ` · ${plural(rows.length, "worker")}, scrolls`
          : ""}
      </p>
      <div class="pod-columns-frame" style={{ height: `${HEIGHT}px` }}>
        <canvas ref={canvas} />
        <div
          ref={scroller}
          class="pod-columns-scroller"
          style={{ left: `${AXIS_WIDTH}px` }}
          role="slider"
          tabIndex={0}
          aria-label={`${title}: worker`}
          aria-orientation="horizontal"
          aria-valuemin={0}
          aria-valuemax={Math.max(rows.length - 1, 0)}
          aria-valuenow={Math.max(at, 0)}
          aria-valuetext={at < 0 ? "no worker" : columnText(pod, cells, rows[at])}
          onScroll={draw}
          onMouseMove={(event) => {
            pointed.value = hit(event);
          }}
          onMouseLeave={() => {
            pointed.value = null;
          }}
          onBlur={() => {
            pointed.value = null;
          }}
          onClick={(event) => choose(hit(event))}
          onKeyDown={(event) => void runKey(keys, event)}
        >
          <div style={{ width: `${Math.floor(plan.total)}px`, height: "1px" }} />
        </div>
      </div>
    </>
  );
}

function columnText(pod: Pod, cells: StepCells, row: number): string {
  const time = (value: number) => formatTime(microseconds(value));
  const parts = pod.phases.flatMap(({ label }, index) =>
    cells.phases[index][row] > 0 ? [`${label} ${time(cells.phases[index][row])}`] : [],
  );
  const title = pod.workers.titles[cells.worker[row]];
  return [title, time(cells.total[row]), ...parts.toReversed()].join(", ");
}
