/** The columns of a step as a picture file, all of them. */
import { columnScale, formatTick } from "../../../base/format";
import { resolveColor, svgElement, svgText } from "../../../widgets/chart/picture";
import type { Pod } from "../payload";
import type { StepCells } from "../step_cells";
import { planTicks } from "./column_plan";

const AREA = { left: 64, top: 64, bottom: 364 };
const HEIGHT = 420;
const LEGEND = 220;
const LEAST_PITCH = 6;
const ROOM = 720;
const MARKS = 6;

export function drawColumnSvg(pod: Pod, cells: StepCells, rows: Int32Array): string {
  const pitch = Math.max(ROOM / Math.max(rows.length, 1), LEAST_PITCH);
  const right = AREA.left + pitch * rows.length;
  const size = { width: right + LEGEND, height: HEIGHT };
  const textColor = resolveColor("var(--text)");
  const root = svgElement("svg", { ...size, viewBox: `0 0 ${size.width} ${HEIGHT}` });
  root.append(svgElement("rect", { ...size, fill: resolveColor("var(--background)") }));
  const most = cells.total.reduce((top, total) => Math.max(top, total), 0);
  const scale = columnScale("time", most * 10);
  const { top, increment } = planTicks(most, scale.factor, MARKS);
  const y = (value: number) => AREA.bottom - (value / top) * (AREA.bottom - AREA.top);
  const title = `Step ${pod.steps.labels[cells.step].slice(0, 60)}`;
  root.append(svgText(16, 28, title, textColor, { "font-weight": 600, "font-size": 15 }));
  root.append(svgText(16, 50, `Time (${scale.unit})`, textColor));
  for (let value = 0; value <= top; value += increment) {
    const line = { x1: AREA.left, x2: right, y1: y(value), y2: y(value), stroke: "#8884" };
    root.append(svgElement("line", line));
    const text = formatTick(value, scale, increment);
    root.append(svgText(AREA.left - 8, y(value) + 4, text, textColor, { "text-anchor": "end" }));
  }
  const sum = new Float64Array(rows.length);
  pod.phases.forEach(({ color }, phase) => {
    const fill = resolveColor(color);
    const d = Array.from(rows, (row, column) => {
      const value = cells.phases[phase][row];
      if (!(value > 0)) return "";
      const low = y(sum[column]);
      sum[column] += value;
      const x = AREA.left + column * pitch + pitch * 0.1;
      const edges = [x, y(sum[column]), pitch * 0.8, low - y(sum[column])];
      const [left, high, width, height] = edges.map((edge) => edge.toFixed(2));
      return `M${left} ${high}h${width}v${height}h-${width}z`;
    }).join("");
    root.append(svgElement("path", { d, fill }));
  });
  const every = Math.max(Math.ceil(110 / pitch), 1);
  for (let column = 0; column < rows.length; column += every) {
    const x = AREA.left + (column + 0.5) * pitch;
    const name = pod.workers.shortTitles[cells.worker[rows[column]]].slice(0, 18);
    root.append(svgText(x, AREA.bottom + 18, name, textColor, { "text-anchor": "middle" }));
  }
  pod.phases.toReversed().forEach(({ label, color }, at) => {
    const place = { x: right + 24, y: AREA.top + at * 22, width: 11, height: 11 };
    root.append(svgElement("rect", { ...place, fill: resolveColor(color) }));
    root.append(svgText(right + 42, place.y + 10, label, textColor));
  });
  return new XMLSerializer().serializeToString(root);
}
