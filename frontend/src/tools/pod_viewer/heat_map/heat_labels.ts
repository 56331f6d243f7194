/** The labels of rows and columns of the heat map, chosen so that they do not overlap. */
import { axisLabels } from "../../../widgets/step_chart/axis_labels";
import type { Pod } from "../payload";
import type { AxisLabel } from "./draw_heat_map";
import type { HeatPlan } from "./heat_plan";

const LINE = 13;
const CHARACTER = 6.5;
const GAP = 16;

/** Workers if the rows are tall enough, else hosts. */
export function rowLabels({ workers, hosts }: Pod, plan: HeatPlan): AxisLabel[] {
  if (plan.rowHeight >= LINE && plan.workersPerRow === 1)
    return workers.shortTitles.map((text, index) => ({
      text,
      middle: (index + 0.5) * plan.rowHeight,
    }));
  const labels: AxisLabel[] = [];
  const isByHost = hosts.length > 1;
  let end = Number.NEGATIVE_INFINITY;
  for (const [from, to] of runs(workers.host, isByHost ? undefined : 1)) {
    const at = ((from + to) / 2 / plan.workersPerRow) * plan.rowHeight;
    const middle = Math.max(at, LINE / 2);
    if (middle - LINE / 2 < end) continue;
    labels.push({
      text: isByHost ? (workers.shortHosts[workers.host[from]] ?? "") : workers.names[from],
      middle,
    });
    end = middle + LINE / 2;
  }
  return labels;
}

/** The rows at which another host begins, if hosts have enough room for borders. */
export function hostBorders({ workers }: Pod, plan: HeatPlan): number[] {
  const starts = [...runs(workers.host)].slice(1).map(([from]) => from / plan.workersPerRow);
  const room = plan.height / (starts.length + 1);
  return room < LINE ? [] : starts.map(Math.round);
}

export function columnLabels(all: readonly string[], plan: HeatPlan): AxisLabel[] {
  const labels = axisLabels(all);
  const widest = labels.reduce((most, label) => Math.max(most, label.length), 1);
  const room = widest * CHARACTER + GAP;
  const every = Math.max(Math.ceil(room / plan.columnWidth), 1);
  const made: AxisLabel[] = [];
  for (let column = 0; column < plan.columns; column += every) {
    made.push({
      text: labels[column * plan.stepsPerColumn],
      middle: (column + 0.5) * plan.columnWidth,
    });
  }
  return made;
}

/** The half-open ranges of equal neighbors, each of at most `longest` values. */
export function* runs(
  values: Int32Array,
  longest = Number.POSITIVE_INFINITY,
): Generator<readonly [from: number, to: number]> {
  let from = 0;
  for (let index = 1; index <= values.length; index++) {
    if (index < values.length && values[index] === values[from] && index - from < longest) continue;
    yield [from, index];
    from = index;
  }
}
