/** A step chart with its legend as a picture file. */
import { formatTick } from "../../base/format";
import { resolveColor, svgElement, svgText } from "../chart/picture";
import { axisLabels } from "./axis_labels";
import { axisScale, type Drawing, findColumns, type StepAxis, type StepSeries } from "./steps";

interface Picture {
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

const WIDTH = 1020;
const HEIGHT = 420;
const AREA = { left: 64, top: 64, right: 760, bottom: 376 };
const MARKS = 5;

export function drawSvg(picture: Picture): string {
  const size = { width: WIDTH, height: HEIGHT };
  const root = svgElement("svg", { ...size, viewBox: `0 0 ${WIDTH} ${HEIGHT}` });
  root.append(svgElement("rect", { ...size, fill: resolveColor("var(--background)") }));
  root.append(...drawAxes(picture), ...drawSeries(picture), ...drawLegend(picture));
  root.append(...drawOutliers(picture));
  return new XMLSerializer().serializeToString(root);
}

function drawAxes({ title, axisTitle, steps, totals, from, to, quantity }: Picture): SVGElement[] {
  const textColor = resolveColor("var(--text)");
  const { top, scale } = axisScale(totals, from, to, quantity);
  const y = yScale(top);
  const marks: SVGElement[] = [
    svgText(16, 28, title, textColor, { "font-weight": 600, "font-size": 15 }),
    svgText(16, 50, `${axisTitle} (${scale.unit})`, textColor),
  ];
  const increment = niceIncrement(top / MARKS, scale.factor);
  for (let value = 0; value <= top * 1.0001; value += increment) {
    const line = { x1: AREA.left, x2: AREA.right, y1: y(value), y2: y(value), stroke: "#8884" };
    const text = formatTick(value, scale, increment);
    marks.push(svgElement("line", line));
    marks.push(svgText(AREA.left - 8, y(value) + 4, text, textColor, { "text-anchor": "end" }));
  }
  const labels = axisLabels(steps.labels);
  const every = Math.max(Math.ceil((to - from) / 10), 1);
  for (let at = from; at < to; at += every) {
    const x = AREA.left + ((at + 0.5 - from) / (to - from)) * (AREA.right - AREA.left);
    marks.push(
      svgText(x, AREA.bottom + 18, labels[at] ?? "", textColor, { "text-anchor": "middle" }),
    );
  }
  return marks;
}

function drawSeries(picture: Picture): SVGElement[] {
  const { series, steps, totals, from, to, quantity } = picture;
  const columns = findColumns(totals, from, to, AREA.right - AREA.left);
  const y = yScale(axisScale(totals, from, to, quantity).top);
  const x = (step: number) =>
    AREA.left +
    ((Math.max(from, Math.min(step, to)) - from) / (to - from)) * (AREA.right - AREA.left);
  const base = new Float64Array(columns.length);
  return series.flatMap(({ color, values }) => {
    const fill = resolveColor(color);
    if (picture.drawing === "line") {
      const points = columns.map(
        (column) =>
          `${x((column.from + column.to) / 2).toFixed(2)} ${y(values[column.step] || 0).toFixed(2)}`,
      );
      const d = `M${points.join("L")}`;
      return svgElement("path", { d, fill: "none", stroke: fill, "stroke-width": 1.5 });
    }
    const boxes = columns.map((column, at) => {
      const low = y(base[at]);
      base[at] += values[column.step] || 0;
      const left = x(column.from);
      const width = x(column.to) - left;
      const gap = width > 4 ? width * 0.1 : 0;
      return box(left + gap / 2, y(base[at]), width - gap, low - y(base[at]));
    });
    const isPale = (at: number) => steps.isTruncated[columns[at].step];
    return [
      svgElement("path", { d: boxes.filter((_, at) => !isPale(at)).join(""), fill }),
      svgElement("path", {
        d: boxes.filter((_, at) => isPale(at)).join(""),
        fill,
        "fill-opacity": 0.4,
      }),
    ];
  });
}

/** A triangle on the column of each outlier. */
function drawOutliers({ steps, totals, from, to, quantity, drawing }: Picture): SVGElement[] {
  if (drawing === "line") return [];
  const fill = resolveColor("var(--text)");
  const y = yScale(axisScale(totals, from, to, quantity).top);
  return findColumns(totals, from, to, AREA.right - AREA.left)
    .filter(({ step }) => steps.outliers?.[step])
    .map(({ step, from: first, to: end }) => {
      const middle = (Math.max(first, from) + Math.min(end, to)) / 2 - from;
      const x = AREA.left + (middle / (to - from)) * (AREA.right - AREA.left);
      const d = `M${x.toFixed(2)} ${(y(totals[step]) - 1).toFixed(2)}l-6 -6h12z`;
      return svgElement("path", { d, fill });
    });
}

function drawLegend({ series }: Picture): SVGElement[] {
  const textColor = resolveColor("var(--text)");
  return series.toReversed().flatMap(({ label, color }, at) => {
    const y = AREA.top + at * 22;
    const fill = resolveColor(color);
    return [
      svgElement("rect", { x: AREA.right + 24, y, width: 11, height: 11, fill }),
      svgText(AREA.right + 42, y + 10, label, textColor),
    ];
  });
}

function yScale(top: number): (value: number) => number {
  return (value) => AREA.bottom - (value / (top || 1)) * (AREA.bottom - AREA.top);
}

function box(left: number, top: number, width: number, height: number): string {
  if (height <= 0) return "";
  const edge = (value: number) => value.toFixed(2);
  return `M${edge(left)} ${edge(top)}h${edge(width)}v${edge(height)}h${edge(-width)}z`;
}

/** 1, 2 or 5 times a power of ten in the written unit, at least `least`. */
function niceIncrement(least: number, factor: number): number {
  const written = least * factor;
  if (!(written > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(written));
  const digit = [1, 2, 5, 10].find((candidate) => candidate * power >= written) ?? 10;
  return (digit * power) / factor;
}
