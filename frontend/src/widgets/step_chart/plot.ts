/** The plot of a step chart: uPlot provides axes, zoom and pointer; we draw columns and lines. */
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatTick } from "../../base/format";
import { axisLabels, labelRoom } from "./axis_labels";
import { chartColors, drawSteps } from "./draw_chart";
import {
  axisScale,
  type Drawing,
  findColumns,
  type StepAxis,
  type StepColumn,
  type StepSeries,
  stepTotals,
} from "./steps";

export interface PlotInput {
  readonly steps: StepAxis;
  /** The visible series, the bottom of the stack first. */
  readonly series: readonly StepSeries[];
  readonly quantity: "time" | "percent";
  readonly drawing: Drawing;
  readonly height: number;
  readonly from: number;
  readonly to: number;
  /** Drawn as a dashed line, null for none. */
  readonly average: number | null;
  readonly selected: number | null;
}

export interface PlotEvents {
  /** Called with the step under the pointer, or null. */
  readonly point: (step: number | null) => void;
  readonly open: (step: number) => void;
  /** null: all steps. */
  readonly zoom: (range: readonly [number, number] | null) => void;
}

/** The position of a step's column, in CSS pixels from the left edge of the host. */
export interface Spot {
  readonly left: number;
  readonly width: number;
  readonly total: number;
}

export interface Plot {
  readonly update: (input: PlotInput) => void;
  /** Marks a step, and returns its position; null if it is not in view. */
  readonly mark: (step: number | null) => Spot | null;
  /** The step shown `by` columns to the right of `step`. */
  readonly beside: (step: number | null, by: number) => number;
  readonly recolor: () => void;
  readonly destroy: () => void;
}

/** Fixed, so that the charts of a page line up. */
const AXIS_WIDTH = 52;
const AXIS_HEIGHT = 24;
const PADDING_RIGHT = 8;
const LEAST_DRAG = 6;
/** How long a click on a zoomed chart waits for a second click, which resets the range. */
const DOUBLE_CLICK_MS = 250;
const INCREMENTS = Array.from(
  { length: 45 },
  (_, index) => [1, 2, 5][index % 3] * 10 ** (Math.floor(index / 3) - 5),
);

export function createPlot(host: HTMLElement, first: PlotInput, events: PlotEvents): Plot {
  let input = first;
  let totals = stepTotals(input.series, input.steps.labels.length, input.drawing);
  let labels = axisLabels(input.steps.labels);
  let columns: StepColumn[] = [];
  let colors = chartColors(input.series, host);
  let seen: MouseEvent | undefined;
  let clickTimer: ReturnType<typeof setTimeout> | undefined;
  const marker = document.createElement("div");
  marker.className = "step-marker";
  marker.hidden = true;

  const axis = () => axisScale(totals, input.from, input.to, input.quantity);
  const u = new uPlot(
    {
      width: Math.max(host.clientWidth, 100),
      height: input.height,
      padding: [8, PADDING_RIGHT, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, range: () => [input.from - 0.5, input.to - 0.5] },
        y: { range: () => [0, axis().top] },
      },
      series: [{}, { paths: () => null, points: { show: false } }],
      axes: [
        {
          size: AXIS_HEIGHT,
          incrs: INCREMENTS.filter((increment) => increment >= 1),
          // Labels are never truncated here: if they are long, fewer are shown.
          space: () => Math.max(56, labelRoom(labels)),
          stroke: () => colors.muted,
          font: colors.font,
          grid: { show: false },
          ticks: { size: 4, width: 1, stroke: () => colors.border },
          values: (_, splits) => splits.map((step) => labels[step] ?? ""),
        },
        {
          size: AXIS_WIDTH,
          incrs: INCREMENTS,
          space: 28,
          stroke: () => colors.muted,
          font: colors.font,
          grid: { width: 1, stroke: () => colors.border },
          ticks: { show: false },
          values: (_, splits, __, ___, increment) =>
            splits.map((value) => formatTick(value, axis().scale, increment)),
        },
      ],
      cursor: {
        x: false,
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: LEAST_DRAG },
        bind: {
          dblclick: () => () => {
            clearTimeout(clickTimer);
            events.zoom(null);
            return null;
          },
        },
      },
      hooks: {
        setCursor: [
          () => {
            // Redraws call this, too; only pointer events count.
            if (u.cursor.event === seen) return;
            seen = u.cursor.event;
            events.point(stepAt(u.cursor.left ?? -1));
          },
        ],
        setSelect: [
          () => {
            const { left, width } = u.select;
            if (width < LEAST_DRAG) return;
            const from = columnAt(left)?.from ?? input.from;
            const to = columnAt(left + width)?.to ?? input.to;
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            events.zoom([Math.max(from, input.from), Math.min(to, input.to)]);
          },
        ],
        draw: [draw],
      },
    },
    [indices(totals.length), totals],
    host,
  );
  u.over.append(marker);
  u.over.addEventListener("click", (event) => {
    // uPlot's cursor may refer to the width before a resize.
    const step = stepAt(event.clientX - u.over.getBoundingClientRect().left);
    if (step === null) return;
    clearTimeout(clickTimer);
    const isWhole = input.from === 0 && input.to === totals.length;
    clickTimer = setTimeout(() => events.open(step), isWhole ? 0 : DOUBLE_CLICK_MS);
  });
  const observer = new ResizeObserver(() => {
    const width = host.clientWidth;
    if (width > 0 && width !== u.width) u.setSize({ width, height: input.height });
  });
  observer.observe(host);
  findVisible();

  function findVisible() {
    const width = u.over.clientWidth || host.clientWidth - AXIS_WIDTH - PADDING_RIGHT;
    columns = findColumns(totals, input.from, input.to, Math.max(width, 1));
  }

  function draw() {
    findVisible();
    const ratio = devicePixelRatio || 1;
    const top = u.scales.y.max ?? 1;
    const picture = { ...input, columns, totals, colors, bbox: u.bbox, ratio, top };
    drawSteps(u.ctx, input.drawing, picture);
  }

  function columnAt(left: number): StepColumn | undefined {
    const width = u.over.clientWidth;
    if (left < 0 || left > width || width === 0) return undefined;
    const step = input.from + (left / width) * (input.to - input.from);
    return columns.find((column) => step < column.to) ?? columns.at(-1);
  }

  function stepAt(left: number): number | null {
    return columnAt(left)?.step ?? null;
  }

  function columnOf(step: number): number {
    return columns.findIndex((column) => step >= column.from && step < column.to);
  }

  function mark(step: number | null): Spot | null {
    const column = step === null ? undefined : columns[columnOf(step)];
    marker.hidden = !column;
    if (!column) return null;
    const scale = u.over.clientWidth / (input.to - input.from);
    const left = (Math.max(column.from, input.from) - input.from) * scale;
    const width = (Math.min(column.to, input.to) - Math.max(column.from, input.from)) * scale;
    marker.style.left = `${left}px`;
    marker.style.width = `${Math.max(width, 1)}px`;
    return { left: left + AXIS_WIDTH, width, total: host.clientWidth };
  }

  return {
    update: (next) => {
      const isSame = next.series === input.series && next.steps === input.steps;
      const isTaller = next.height !== input.height;
      input = next;
      if (!isSame) {
        totals = stepTotals(input.series, input.steps.labels.length, input.drawing);
        labels = axisLabels(input.steps.labels);
        colors = chartColors(input.series, host);
      }
      if (isTaller) u.setSize({ width: u.width, height: input.height });
      u.setData([indices(totals.length), totals]);
      findVisible();
    },
    mark,
    beside: (step, by) => {
      const at = step === null ? (by > 0 ? -1 : columns.length) : columnOf(step);
      return columns[Math.max(0, Math.min(at + by, columns.length - 1))]?.step ?? 0;
    },
    recolor: () => {
      colors = chartColors(input.series, host);
      u.redraw(false, false);
    },
    destroy: () => {
      clearTimeout(clickTimer);
      observer.disconnect();
      u.destroy();
    },
  };
}

function indices(count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, index) => index);
}
