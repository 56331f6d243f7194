/** A chart of one value per step and series, as stacked columns, lines, or a table. */
import { useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCount, plural } from "../../base/format";
import { bindKeys, runKey } from "../../base/keys";
import { watchColors } from "../../base/theme";
import { ChartMenu } from "../chart/chart_menu";
import { SmallButton } from "../controls/buttons";
import { Late } from "../late";
import type { Explanation } from "../table/columns";
import { Card } from "../text/card";
import { axisName } from "./axis_labels";
import type { Plot, PlotInput, Spot } from "./plot";
import { formatValue, StepCard, stepText } from "./step_card";
import { stepKeys } from "./step_keys";
import { StepLegend } from "./step_legend";
import type { StepView } from "./step_view";
import { axisScale, type Drawing, type StepAxis, type StepSeries, stepTotals } from "./steps";

interface StepChartProps {
  readonly title: string;
  readonly explanation: Explanation;
  readonly steps: StepAxis;
  /** The bottom of the stack first. Must be the same array while its content does not change. */
  readonly series: readonly StepSeries[];
  readonly quantity: "time" | "percent";
  readonly drawing?: Drawing;
  readonly height?: number;
  /** The title of the vertical axis: "Step time". */
  readonly axisTitle: string;
  /** Shared by the charts of a page. */
  readonly view: StepView;
  /** A dashed line. */
  readonly average?: number | null;
  readonly selected?: number | null;
  /** A click on a step, or Enter. */
  readonly open?: (step: number) => void;
  /** What opening a step does: "opens it in the trace viewer". */
  readonly openText?: string;
  /** Shows a step on the timeline. */
  readonly toTimeline?: (step: number) => void;
  /** The name of saved files, without extension. */
  readonly fileName: string;
  /** At the right of the title. */
  readonly children?: ComponentChildren;
}

const HEIGHT = 260;

export function StepChart(props: StepChartProps) {
  const { title, steps, view, quantity, drawing = "stack" } = props;
  const [isTable, setTable] = useState(false);
  const series = useShown(props.series);
  const visible = useVisible(series, view.hidden);
  const totals = useMemo(
    () => stepTotals(visible, steps.labels.length, drawing),
    [visible, steps, drawing],
  );
  const { scale } = axisScale(totals, view.from, view.to, quantity);
  const picture = async () => {
    const { drawSvg } = await import("./picture");
    return drawSvg({ ...props, series: visible, drawing, totals, from: view.from, to: view.to });
  };
  return (
    <Card
      class="snug step-chart"
      title={title}
      why={props.explanation}
      head={
        <>
          {props.children}
          <span class="space" />
          {view.isZoomed ? (
            <SmallButton onClick={() => view.zoom(null)}>
              All {formatCount(steps.labels.length)} steps
            </SmallButton>
          ) : null}
          <ChartMenu
            title={title}
            isTable={isTable}
            setTable={setTable}
            fileName={props.fileName}
            saveCsv={() =>
              void import("./step_table").then(({ saveStepsCsv }) => saveStepsCsv(props, series))
            }
            picture={picture}
          />
        </>
      }
    >
      {isTable ? (
        <Late load={() => import("./step_table")}>
          {({ StepChartTable }) => <StepChartTable {...props} series={series} drawing={drawing} />}
        </Late>
      ) : (
        <>
          <div class="step-axis-title muted">
            {props.axisTitle} ({scale.unit})
            {props.average == null
              ? ""
              : ` · dashed: average ${formatValue(props.average, quantity)}`}
            <OutlierNote steps={steps} />
            <GroupNote count={view.to - view.from} />
          </div>
          <StepPlot {...props} series={visible} all={series} drawing={drawing} totals={totals} />
          <div class="step-foot">
            {series.length > 1 ? <StepLegend series={series} view={view} /> : null}
            <span class="step-axis-name muted" title={axisName(steps)}>
              {axisName(steps)}
            </span>
          </div>
        </>
      )}
    </Card>
  );
}

/** The series with at least one positive value. */
function useShown(series: readonly StepSeries[]): readonly StepSeries[] {
  return useMemo(() => {
    const some = series.filter(({ values }) => values.some((value) => value > 0));
    return some.length > 0 ? some : series.slice(0, 1);
  }, [series]);
}

function useVisible(
  series: readonly StepSeries[],
  hidden: ReadonlySet<string>,
): readonly StepSeries[] {
  const key = [...hidden].join(".");
  // `key` stands for `hidden`.
  return useMemo(() => series.filter(({ id }) => !hidden.has(id)), [series, key]);
}

function OutlierNote({ steps: { outliers = [] } }: { steps: StepAxis }) {
  const count = outliers.filter((reason) => reason !== "").length;
  if (count === 0) return null;
  return (
    <span>
      {" "}
      · <span aria-hidden="true">▼</span> {plural(count, "outlier")}
    </span>
  );
}

const CROWDED = 1200;

function GroupNote({ count }: { count: number }) {
  if (count <= CROWDED) return null;
  return (
    <span>
      {" "}
      · {formatCount(count)} steps: each column shows the slowest of several; drag to zoom
    </span>
  );
}

interface StepPlotProps extends StepChartProps {
  readonly drawing: Drawing;
  /** All series, including hidden ones. */
  readonly all: readonly StepSeries[];
  readonly totals: Float64Array;
}

function StepPlot(props: StepPlotProps) {
  const { steps, series, quantity, drawing, view, height = HEIGHT } = props;
  const { average = null, selected = null, open, openText } = props;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [isNear, setNear] = useState(false);
  const [spot, setSpot] = useState<Spot | null>(null);
  const [isReady, setReady] = useState(false);
  const step = view.cursor.value;
  const input: PlotInput = {
    steps,
    series,
    quantity,
    drawing,
    height,
    from: view.from,
    to: view.to,
    average,
    selected,
  };
  const inputNow = useRef(input);
  inputNow.current = input;

  useEffect(() => {
    let isGone = false;
    let end = () => {};
    void import("./plot").then(({ createPlot }) => {
      if (isGone || !host.current) return;
      const made = createPlot(host.current, inputNow.current, {
        point: (next) => {
          latest.current.view.cursor.value = next;
        },
        open: (chosen) => latest.current.open?.(chosen),
        zoom: (range) => latest.current.view.zoom(range),
      });
      plot.current = made;
      const stop = watchColors(made.recolor);
      end = () => {
        stop();
        made.destroy();
        plot.current = null;
      };
      setReady(true);
    });
    return () => {
      isGone = true;
      end();
    };
  }, []);
  useLayoutEffect(() => {
    plot.current?.update(inputNow.current);
    setSpot(plot.current?.mark(latest.current.view.cursor.peek()) ?? null);
  }, [steps, series, quantity, drawing, height, view.from, view.to, average, selected, isReady]);
  useSignalEffect(() => {
    const next = view.cursor.value;
    setSpot(plot.current?.mark(next) ?? null);
  });
  const keys = stepKeys({
    move: (by) => {
      if (plot.current) view.cursor.value = plot.current.beside(view.cursor.peek(), by);
    },
    open: () => {
      const at = view.cursor.peek();
      if (at !== null) open?.(at);
    },
    zoomBy: (factor) => zoomAbout(view, steps.labels.length, factor),
    reset: () => {
      if (view.cursor.peek() !== null) view.cursor.value = null;
      else view.zoom(null);
    },
  });
  // Registered for the help only, so any set of these bindings will do.
  useEffect(() => bindKeys(keys, true), []);
  const hasCard = isNear && step !== null && spot !== null;
  return (
    <div class="step-plot" style={{ height: `${height}px` }}>
      <div
        class={open ? "step-host opens" : "step-host"}
        ref={host}
        role="slider"
        tabIndex={0}
        aria-label={`${props.title}: step`}
        aria-orientation="horizontal"
        aria-valuemin={view.from}
        aria-valuemax={Math.max(view.to - 1, view.from)}
        aria-valuenow={step ?? view.from}
        aria-valuetext={stepText(steps, props.all, step, props)}
        aria-description={openText && `Enter ${openText}`}
        onMouseEnter={() => setNear(true)}
        onMouseLeave={() => setNear(false)}
        onFocus={() => setNear(true)}
        onBlur={() => {
          setNear(false);
          view.cursor.value = null;
        }}
        onKeyDown={(event) => void runKey(keys, event)}
      />
      {hasCard ? (
        <StepCard
          steps={steps}
          series={props.all}
          hidden={view.hidden}
          step={step}
          spot={spot}
          quantity={quantity}
          drawing={drawing}
          openText={openText}
        />
      ) : null}
    </div>
  );
}

/** Scales the range by `factor` about the cursor. */
function zoomAbout(view: StepView, count: number, factor: number): void {
  const length = Math.max(Math.round((view.to - view.from) * factor), 2);
  if (length >= count) {
    view.zoom(null);
    return;
  }
  const middle = view.cursor.peek() ?? (view.from + view.to) / 2;
  const from = Math.max(0, Math.min(Math.round(middle - length / 2), count - length));
  view.zoom([from, from + length]);
}
