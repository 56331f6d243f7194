/** Draws the visible stacked columns with their axes. */
import type { Scale } from "../../../base/format";
import { resolveColor } from "../../../base/theme";
import { hatch, type Pen } from "../../../widgets/chart/pen";
import { paperColors } from "../../../widgets/chart/theme_colors";
import { drawValueAxis } from "../../../widgets/chart/ticks";
import { fitLabel } from "../heat_map/draw_heat_map";
import type { Pod } from "../payload";
import type { StepCells } from "../step/step_cells";
import { type ColumnPlan, columnNames, hostLabel, type Ticks } from "./column_plan";

export interface ColumnDrawing {
  readonly pod: Pod;
  readonly cells: StepCells;
  /** Rows of the cells, one per column. */
  readonly rows: Int32Array;
  readonly plan: ColumnPlan;
  readonly ticks: Ticks;
  readonly scale: Scale;
  readonly median: number;
  readonly scroll: number;
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** Workers. */
  readonly selected: number | null;
  readonly pointed: number | null;
  readonly isByHost: boolean;
  /** Whether columns of one host are adjacent. */
  readonly isInOrder: boolean;
  readonly fills: readonly string[];
  readonly colors: {
    readonly background: string;
    readonly text: string;
    readonly muted: string;
    readonly border: string;
    readonly pointed: string;
  };
  readonly font: string;
}

/** The colors of the current theme. */
export function columnColors({ phases }: Pod): Pick<ColumnDrawing, "fills" | "colors"> {
  return {
    fills: phases.map(({ color }) => resolveColor(color)),
    colors: {
      ...paperColors(),
      pointed: resolveColor("color-mix(in srgb, var(--text) 10%, transparent)"),
    },
  };
}

export const AXIS_WIDTH = 52;
const TOP = 8;
const NAMES = 18;
const HOSTS = 18;
const EDGE_FROM = 8;

export function drawStepColumns(pen: Pen, drawing: ColumnDrawing): void {
  const { ticks, scale, colors } = drawing;
  pen.font = drawing.font;
  pen.textBaseline = "middle";
  const y = valueScale(drawing);
  drawValueAxis(pen, { ...ticks, scale, colors, y, left: AXIS_WIDTH, right: drawing.width });
  pen.save();
  pen.beginPath();
  pen.rect(AXIS_WIDTH, 0, drawing.width - AXIS_WIDTH, drawing.height);
  pen.clip();
  const first = Math.max(Math.floor(drawing.scroll / drawing.plan.pitch), 0);
  const room = drawing.width - AXIS_WIDTH;
  const last = Math.min(
    Math.ceil((drawing.scroll + room) / drawing.plan.pitch),
    drawing.rows.length,
  );
  for (let column = first; column < last; column++) drawColumn(pen, drawing, y, column);
  drawNames(pen, drawing, first, last);
  if (drawing.median > 0) {
    pen.strokeStyle = drawing.colors.text;
    pen.setLineDash([4, 4]);
    pen.beginPath();
    pen.moveTo(AXIS_WIDTH, Math.round(y(drawing.median)) + 0.5);
    pen.lineTo(
      Math.min(left(drawing, drawing.rows.length), drawing.width),
      Math.round(y(drawing.median)) + 0.5,
    );
    pen.stroke();
  }
  pen.restore();
}

function base({ height, pod }: ColumnDrawing): number {
  return height - NAMES - (pod.hosts.length > 1 ? HOSTS : 0);
}

function valueScale(drawing: ColumnDrawing): (value: number) => number {
  const bottom = base(drawing);
  return (value) => bottom - (value / drawing.ticks.top) * (bottom - TOP);
}

/** The left edge of a column's slot. */
function left({ plan, scroll }: ColumnDrawing, column: number): number {
  return AXIS_WIDTH + column * plan.pitch - scroll;
}

function drawColumn(
  pen: Pen,
  drawing: ColumnDrawing,
  y: (value: number) => number,
  column: number,
): void {
  const { cells, rows, plan, fills, colors, selected, pointed } = drawing;
  const row = rows[column];
  const worker = cells.worker[row];
  const start = left(drawing, column);
  if (worker === pointed) {
    pen.fillStyle = colors.pointed;
    pen.fillRect(start, 0, plan.pitch, drawing.height);
  }
  const x = Math.round(start + (plan.pitch - plan.width) / 2);
  const wide = Math.max(Math.round(plan.width), 1);
  let sum = 0;
  cells.phases.forEach((values, phase) => {
    const value = values[row];
    if (!(value > 0)) return;
    const low = Math.round(y(sum));
    sum += value;
    const high = Math.round(y(sum));
    if (low === high) return;
    pen.fillStyle = fills[phase];
    pen.fillRect(x, high, wide, low - high);
    if (wide >= EDGE_FROM && low - high > 2) {
      pen.strokeStyle = "#000";
      pen.globalAlpha = 0.35;
      pen.lineWidth = 1;
      pen.strokeRect(x + 0.5, high + 0.5, wide - 1, low - high - 1);
      pen.globalAlpha = 1;
    }
  });
  const top = Math.round(y(sum));
  if (cells.isTruncated[row])
    hatch(pen, colors.background, { left: x, top, width: wide, height: base(drawing) - top });
  if (worker === selected) {
    pen.strokeStyle = colors.text;
    pen.lineWidth = 2;
    pen.strokeRect(x - 1, y(sum) - 1, wide + 2, base(drawing) - y(sum) + 2);
  }
}

/** Draws the names of workers, or fewer of their numbers if there is less room, and their hosts. */
function drawNames(pen: Pen, drawing: ColumnDrawing, first: number, last: number) {
  const { pod, cells, rows, plan, colors, isByHost, isInOrder } = drawing;
  const hostOf = (column: number) => pod.workers.host[cells.worker[rows[column]]];
  const { texts, every } = columnNames(
    Array.from(rows, (row) => pod.workers.names[cells.worker[row]]),
    plan.pitch,
    (text) => pen.measureText(text).width,
  );
  pen.textAlign = "center";
  pen.fillStyle = colors.muted;
  for (let column = Math.ceil(first / every) * every; column < last; column += every)
    pen.fillText(
      texts[column],
      left(drawing, column) + plan.pitch / 2,
      base(drawing) + NAMES / 2 + 2,
    );
  if (pod.hosts.length < 2 || !(isInOrder || isByHost)) return;
  for (let from = first; from < last; ) {
    // A host's columns may begin left of the view.
    let start = from;
    while (start > 0 && hostOf(start - 1) === hostOf(from)) start--;
    let to = from + 1;
    while (to < rows.length && hostOf(to) === hostOf(from)) to++;
    const [begin, end] = [left(drawing, start) + 2, left(drawing, to) - 2];
    pen.fillStyle = colors.border;
    pen.fillRect(begin, base(drawing) + NAMES + 1, end - begin, 1);
    const [seenFrom, seenTo] = [Math.max(begin, AXIS_WIDTH), Math.min(end, drawing.width)];
    const text = fitLabel(
      pen,
      hostLabel(
        pod.workers.shortHosts,
        hostOf(from),
        (name) => pen.measureText(name).width <= end - begin,
      ),
      end - begin,
    );
    pen.fillStyle = colors.muted;
    if (text !== "…" && seenTo - seenFrom >= pen.measureText(text).width)
      pen.fillText(text, (seenFrom + seenTo) / 2, base(drawing) + NAMES + HOSTS / 2 + 1);
    from = to;
  }
}
