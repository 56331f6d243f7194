/** All columns of a step as a picture file. */
import { columnScale } from "../../../base/format";
import { drawPicture } from "../../../widgets/chart/picture";
import type { Pod } from "../payload";
import type { StepCells } from "../step/step_cells";
import { type ColumnPlan, planTicks } from "./column_plan";
import { AXIS_WIDTH, columnColors, drawStepColumns } from "./draw_columns";

const ROOM = 720;
const NARROWEST = 6;
const HEIGHT = 340;
const MARKS = 6;

export function drawColumnSvg(
  pod: Pod,
  cells: StepCells,
  rows: Int32Array,
  order: { readonly isByHost: boolean; readonly isInOrder: boolean },
): string {
  const pitch = Math.max(ROOM / Math.max(rows.length, 1), NARROWEST);
  const plan: ColumnPlan = { pitch, width: pitch * 0.8, total: pitch * rows.length };
  const most = cells.total.reduce((top, total) => Math.max(top, total), 0);
  const scale = columnScale("time", most * 10);
  const width = AXIS_WIDTH + plan.total;
  return drawPicture({
    title: `Step ${pod.steps.labels[cells.step].slice(0, 60)}`,
    note: `Time (${scale.unit})`,
    width,
    height: HEIGHT,
    legend: pod.phases.toReversed(),
    draw: (pen) =>
      drawStepColumns(pen, {
        pod,
        cells,
        rows,
        plan,
        ticks: planTicks(most, scale.factor, MARKS),
        scale,
        median: Number.NaN,
        scroll: 0,
        width,
        height: HEIGHT,
        selected: null,
        pointed: null,
        ...order,
        ...columnColors(pod),
        font: "11px sans-serif",
      }),
  });
}
