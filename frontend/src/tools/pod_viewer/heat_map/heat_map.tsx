/** The heat map of workers × steps. */
import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCount, plural } from "../../../base/format";
import { bindKeys, runKey } from "../../../base/keys";
import { resolveColor } from "../../../base/theme";
import { ChartMenu } from "../../../widgets/chart/chart_menu";
import { canvasPen } from "../../../widgets/chart/pen";
import { useWidth } from "../../../widgets/chart/use_size";
import { Menu } from "../../../widgets/overlays/menu";
import { shortLabels } from "../../../widgets/step_chart/axis_labels";
import { Card } from "../../../widgets/text/card";
import type { Select } from "../../tool";
import { type Domain, findDomain, type Measure, measureValues } from "../measures";
import { cellOf, type Pod } from "../payload";
import { drawHeat, type HeatDrawing, heatSize, RIGHT } from "./draw_heat_map";
import { HeatCard } from "./heat_card";
import { heatKeys } from "./heat_keys";
import { columnLabels, hostBorders, rowLabels } from "./heat_labels";
import { HeatLegend, legendTexts, useRamp } from "./heat_legend";
import { Marks } from "./heat_marks";
import { type HeatPlan, type HeatSpot, heatCells, planHeat, spotAt } from "./heat_plan";
import { HeatTable, saveHeatCsv } from "./heat_table";
import { spotText } from "./heat_texts";
import type { Ramp } from "./ramp";

interface HeatMapProps {
  readonly pod: Pod;
  readonly measures: readonly Measure[];
  readonly measure: Measure;
  readonly isFromZero: boolean;
  readonly step: number;
  /** null for none. */
  readonly worker: number | null;
  /** The worker under the pointer, shared with the columns. */
  readonly pointed: Signal<number | null>;
  readonly select: Select;
  /** Shows a worker's chosen step on the timeline. */
  readonly toTimeline: (worker: number) => void;
  readonly fileName: string;
}

const ROOM_HEIGHT = 264;

export function HeatMap(props: HeatMapProps) {
  const { pod, measures, measure, isFromZero, select } = props;
  const [isTable, setTable] = useState(false);
  const values = useMemo(() => measureValues(pod, measure), [pod, measure]);
  const limit = measure.quantity === "percent" ? 100 : Number.POSITIVE_INFINITY;
  const domain = useMemo(
    () => findDomain(comparedValues(pod, values), pod.steps.isTruncated, isFromZero, limit),
    [values, pod, isFromZero, limit],
  );
  const { ramp, theme } = useRamp();
  const drawing = useRef<HeatDrawing | null>(null);
  const title = `${measure.label} of every worker and step`;
  const picture = async () => {
    const { drawHeatSvg } = await import("./heat_picture");
    return drawing.current ? drawHeatSvg(drawing.current, title, legendTexts(domain, measure)) : "";
  };
  return (
    <Card
      class="snug pod-heat"
      title="Workers and steps"
      why={{
        title: measure.label,
        formula: measure.formula,
        unit: measure.quantity === "time" ? "time" : "percent of the step",
        source: "Device and host events within the worker's step.",
      }}
      head={
        <>
          <Menu
            label={
              <>
                Color: <b>{measure.label}</b> ▾
              </>
            }
            title={`Color: ${measure.label}`}
            buttonClass="button small"
            width={300}
            items={measures.map((choice) => ({
              label: choice.label,
              isChecked: choice === measure,
              run: () => select({ by: choice.id }),
            }))}
          />
          <HeatLegend domain={domain} ramp={ramp} measure={measure} />
          <span class="space" />
          <ChartMenu
            title="Workers and steps"
            isTable={isTable}
            setTable={setTable}
            fileName={props.fileName}
            saveCsv={() => saveHeatCsv(props.fileName, pod, measure, values)}
            picture={picture}
            noPicture={isTable ? "Show the picture first" : undefined}
            noun="picture"
            items={[
              {
                label: isFromZero ? "Fit colors to the values" : "Start colors at zero",
                run: () => select({ scale: isFromZero ? null : "zero" }),
              },
            ]}
          />
        </>
      }
    >
      {isTable ? (
        <HeatTable
          pod={pod}
          measure={measure}
          values={values}
          step={props.step}
          toTimeline={props.toTimeline}
        />
      ) : (
        <HeatPicture
          {...props}
          values={values}
          domain={domain}
          ramp={ramp}
          theme={theme}
          keep={(drawn) => {
            drawing.current = drawn;
          }}
        />
      )}
    </Card>
  );
}

interface HeatPictureProps extends HeatMapProps {
  readonly values: Float32Array;
  readonly domain: Domain;
  readonly ramp: Ramp;
  /** Changes with the colors of the page. */
  readonly theme: number;
  readonly keep: (drawing: HeatDrawing) => void;
}

function HeatPicture(props: HeatPictureProps) {
  const { pod, measure, values, domain, ramp, theme, step, worker, pointed, select, keep } = props;
  const { workers, steps } = pod;
  const noteId = useId();
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const roomWidth = useWidth(frame);
  const cursor = useSignal<HeatSpot | null>(null);
  const left = useMemo(() => labelWidth(pod, frame.current), [pod, roomWidth]);
  const plan = useMemo(
    () => planHeat(workers.count, steps.count, Math.max(roomWidth - left - RIGHT, 50), ROOM_HEIGHT),
    [workers, steps, roomWidth, left],
  );
  const { shared, short } = useMemo(() => shortLabels(steps.labels), [steps]);

  useLayoutEffect(() => {
    if (!canvas.current || roomWidth === 0) return;
    const made: HeatDrawing = {
      plan,
      cells: heatCells(values, workers.count, steps.count, plan),
      domain,
      ramp,
      isTruncated: columnFlags(steps.isTruncated, plan).map((flags) => flags.every(Boolean)),
      isOutlier: columnFlags(isOutlier(pod), plan).map((flags) => flags.some(Boolean)),
      rowLabels: rowLabels(pod, plan),
      columnLabels: columnLabels(short, plan),
      borders: hostBorders(pod, plan),
      left,
      colors: {
        background: resolveColor("var(--panel)"),
        text: resolveColor("var(--muted)"),
        border: resolveColor("var(--border)"),
      },
      font: `11px ${getComputedStyle(canvas.current).fontFamily}`,
    };
    const { width, height } = heatSize(made);
    const pen = canvasPen(canvas.current, width, height);
    if (pen) drawHeat(pen, made);
    keep(made);
  }, [pod, values, domain, ramp, theme, plan, left, roomWidth]);
  useSignalEffect(() => {
    pointed.value = cursor.value?.worker ?? null;
  });

  const choose = (spot: HeatSpot) =>
    select({ step: String(spot.step), worker: String(spot.worker) });
  const spotOf = (event: MouseEvent) => {
    const box = frame.current?.getBoundingClientRect();
    if (!box) return null;
    const [x, y] = [event.clientX - box.left - left, event.clientY - box.top];
    return spotAt(values, workers.count, steps.count, plan, x, y);
  };
  const keys = heatKeys({
    move: (byStep, byWorker) => {
      const from = cursor.peek() ?? { step, worker: worker ?? 0 };
      const by = (at: number, change: number, each: number, count: number) =>
        Math.max(0, Math.min(at + change * each, count - 1));
      cursor.value = {
        step: by(from.step, byStep, plan.stepsPerColumn, steps.count),
        worker: by(from.worker, byWorker, plan.workersPerRow, workers.count),
      };
    },
    choose: () => {
      const spot = cursor.peek();
      if (spot) choose(spot);
    },
    leave: () => {
      cursor.value = null;
    },
  });
  // Registered for the help only, so any set of these bindings will do.
  useEffect(() => bindKeys(keys, true), []);
  const spot = cursor.value;
  return (
    <>
      <p class="pod-axis-title muted" id={noteId}>
        {axisNote(pod, plan, shared)}
      </p>
      <div
        ref={frame}
        class="pod-heat-frame"
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move the cursor within
        tabIndex={0}
        aria-label={`${measure.label}: ${formatCount(workers.count)} workers by ${formatCount(steps.count)} steps`}
        aria-roledescription="heat map"
        aria-describedby={noteId}
        onMouseMove={(event) => {
          cursor.value = spotOf(event);
        }}
        onMouseLeave={() => {
          cursor.value = null;
        }}
        onBlur={() => {
          cursor.value = null;
        }}
        onClick={(event) => {
          const chosen = spotOf(event);
          if (chosen) choose(chosen);
        }}
        onKeyDown={(event) => void runKey(keys, event)}
      >
        <canvas ref={canvas} />
        <Marks plan={plan} left={left} step={step} worker={worker} cursor={cursor} />
        {spot ? (
          <HeatCard
            pod={pod}
            measure={measure}
            value={values[cellOf(pod, spot.worker, spot.step)]}
            plan={plan}
            left={left}
            spot={spot}
          />
        ) : null}
        <span class="unseen" role="status">
          {spot ? spotText(pod, spot, measure, values) : ""}
        </span>
      </div>
    </>
  );
}

function axisNote(pod: Pod, plan: HeatPlan, shared: string): string {
  const { steps, hosts, unrecorded } = pod;
  const parts = [
    `Down: workers${hosts.length > 1 ? " by host" : ""}`,
    `across: steps${shared === "" ? "" : ` (${shared.slice(0, 60)})`}`,
  ];
  const cells = [
    plan.workersPerRow > 1 ? `${plan.workersPerRow} workers` : "",
    plan.stepsPerColumn > 1 ? `${plan.stepsPerColumn} steps` : "",
  ].filter(Boolean);
  if (cells.length > 0) parts.push(`each cell is the largest of ${cells.join(" × ")}`);
  const outliers = isOutlier(pod).filter(Boolean).length;
  if (outliers > 0) parts.push(`▲ ${plural(outliers, "outlier")}`);
  if (steps.isTruncated.includes(true)) parts.push("hatched: not fully recorded");
  if (unrecorded.size > 0) parts.push("striped without color: not recorded");
  return parts.join(" · ");
}

/** The values of workers that do the same kind of work. */
function comparedValues({ workers, steps }: Pod, values: Float32Array): Float32Array {
  if (!workers.isAside.includes(true)) return values;
  return values.filter((_, cell) => !workers.isAside[Math.floor(cell / steps.count)]);
}

function isOutlier({ steps: { outliers = [] } }: Pod): boolean[] {
  return outliers.map((reason) => reason !== "");
}

/** The flags of the steps of each column. */
function columnFlags(ofSteps: readonly boolean[], plan: HeatPlan): boolean[][] {
  return Array.from({ length: plan.columns }, (_, column) =>
    ofSteps.slice(column * plan.stepsPerColumn, (column + 1) * plan.stepsPerColumn),
  );
}

const LEAST_LABEL = 56;
const MOST_LABEL = 170;

function labelWidth({ workers, hosts }: Pod, frame: HTMLElement | null): number {
  const pen = document.createElement("canvas").getContext("2d");
  if (!pen || !frame) return LEAST_LABEL;
  pen.font = `11px ${getComputedStyle(frame).fontFamily}`;
  const isTall = workers.count * 13 <= ROOM_HEIGHT;
  const texts = isTall
    ? workers.shortTitles
    : hosts.length > 1
      ? workers.shortHosts
      : workers.names;
  const widest = texts
    .slice(0, 500)
    .reduce((most, text) => Math.max(most, pen.measureText(text.slice(0, 60)).width), 0);
  return Math.round(Math.max(LEAST_LABEL, Math.min(widest + 14, MOST_LABEL)));
}
