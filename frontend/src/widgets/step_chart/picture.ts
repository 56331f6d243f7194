/** A step chart with its legend as a picture file. */
import type { Pen } from "../chart/pen";
import { drawPicture } from "../chart/picture";
import { drawValueAxis, tickIncrement } from "../chart/ticks";
import { axisLabels, axisName, labelRoom } from "./axis_labels";
import { type ChartColors, chartColors, drawSteps } from "./draw_chart";
import { axisScale, type Drawing, findColumns, type StepAxis, type StepSeries } from "./steps";

interface StepChartInput {
  readonly title: string;
  readonly axisTitle: string;
  readonly steps: StepAxis;
  /** The bottom of the stack first. */
  readonly series: readonly StepSeries[];
  readonly quantity: "time" | "percent";
  readonly drawing: Drawing;
  readonly totals: Float64Array;
  readonly from: number;
  readonly to: number;
}

const AREA = { left: 48, top: 8, width: 696, height: 304 };
const RIGHT = AREA.left + AREA.width;
const BOTTOM = AREA.top + AREA.height;
const MARKS = 5;
const LABELS = 10;

export function drawSvg(chart: StepChartInput): string {
  const { steps, series, drawing, totals, from, to, quantity } = chart;
  const { top, scale } = axisScale(totals, from, to, quantity);
  const colors = chartColors(series, document.body);
  const y = (value: number) => BOTTOM - (value / top) * AREA.height;
  const increment = tickIncrement(top, scale.factor, MARKS);
  return drawPicture({
    title: chart.title,
    note: `${chart.axisTitle} (${scale.unit}) · across: ${axisName(steps)}`,
    width: RIGHT,
    height: BOTTOM + 28,
    legend: series.toReversed(),
    draw: (pen) => {
      drawValueAxis(pen, { top, increment, scale, left: AREA.left, right: RIGHT, y, colors });
      drawLabels(pen, steps, from, to, colors);
      const columns = findColumns(totals, from, to, AREA.width);
      const none = { average: null, selected: null };
      const place = { bbox: AREA, ratio: 1, top };
      drawSteps(pen, drawing, {
        steps,
        series,
        columns,
        totals,
        from,
        to,
        colors,
        ...place,
        ...none,
      });
    },
  });
}

function drawLabels(
  pen: Pen,
  steps: StepAxis,
  from: number,
  to: number,
  { muted }: ChartColors,
): void {
  const labels = axisLabels(steps.labels);
  const most = Math.min(LABELS, Math.max(Math.floor(AREA.width / labelRoom(labels)), 1));
  const every = Math.max(Math.ceil((to - from) / most), 1);
  pen.fillStyle = muted;
  pen.textAlign = "center";
  for (let step = from; step < to; step += every) {
    const x = AREA.left + ((step + 0.5 - from) / (to - from)) * AREA.width;
    pen.fillText(labels[step] ?? "", x, BOTTOM + 16);
  }
}
