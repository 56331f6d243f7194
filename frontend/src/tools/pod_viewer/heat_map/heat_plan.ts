/** The layout of workers × steps in the picture, where several may share a cell. */

export type HeatPlan = Readonly<ReturnType<typeof planHeat>>;

const TALLEST_ROW = 22;
const WIDEST_COLUMN = 240;

/** Fits the picture into `roomWidth` × `roomHeight` CSS pixels, with cells of at least one pixel. */
export function planHeat(workers: number, steps: number, roomWidth: number, roomHeight: number) {
  const workersPerRow = Math.max(Math.ceil(workers / Math.max(roomHeight, 1)), 1);
  const rows = Math.ceil(workers / workersPerRow);
  const rowHeight = Math.min(Math.max(Math.floor(roomHeight / Math.max(rows, 1)), 1), TALLEST_ROW);
  const stepsPerColumn = Math.max(Math.ceil(steps / Math.max(roomWidth, 1)), 1);
  const columns = Math.ceil(steps / stepsPerColumn);
  const columnWidth = Math.min(roomWidth / Math.max(columns, 1), WIDEST_COLUMN);
  return {
    rows,
    columns,
    /** The number of workers that share a row, which shows their largest value. */
    workersPerRow,
    stepsPerColumn,
    /** CSS pixels, an integer. */
    rowHeight,
    /** CSS pixels, may be a fraction. */
    columnWidth,
    width: columns * columnWidth,
    height: rows * rowHeight,
  };
}

/** [rows × columns] The largest value of each cell; NaN if it has none. */
export function heatCells(values: Float32Array, workers: number, steps: number, plan: HeatPlan) {
  const { rows, columns, workersPerRow, stepsPerColumn } = plan;
  if (workersPerRow === 1 && stepsPerColumn === 1) return values;
  const cells = new Float32Array(rows * columns).fill(Number.NaN);
  for (let worker = 0; worker < workers; worker++) {
    const row = Math.floor(worker / workersPerRow) * columns;
    for (let step = 0; step < steps; step++) {
      const value = values[worker * steps + step];
      const cell = row + Math.floor(step / stepsPerColumn);
      if (!(value <= cells[cell]) && !Number.isNaN(value)) cells[cell] = value;
    }
  }
  return cells;
}

export interface HeatSpot {
  readonly worker: number;
  readonly step: number;
}

/** The worker and step whose value the cell at (x, y) shows; null outside the picture. */
export function spotAt(
  values: Float32Array,
  workers: number,
  steps: number,
  plan: HeatPlan,
  x: number,
  y: number,
): HeatSpot | null {
  const column = Math.floor(x / plan.columnWidth);
  const row = Math.floor(y / plan.rowHeight);
  if (column < 0 || row < 0 || column >= plan.columns || row >= plan.rows) return null;
  let spot: HeatSpot = { worker: row * plan.workersPerRow, step: column * plan.stepsPerColumn };
  let most = Number.NaN;
  const lastWorker = Math.min((row + 1) * plan.workersPerRow, workers);
  const lastStep = Math.min((column + 1) * plan.stepsPerColumn, steps);
  for (let { worker } = spot; worker < lastWorker; worker++) {
    for (let step = column * plan.stepsPerColumn; step < lastStep; step++) {
      const value = values[worker * steps + step];
      if (Number.isNaN(value) || value <= most) continue;
      most = value;
      spot = { worker, step };
    }
  }
  return spot;
}

/** The position of a worker's step, in CSS pixels of the picture. */
export function placeOf(plan: HeatPlan, { worker, step }: HeatSpot) {
  return {
    left: Math.floor(step / plan.stepsPerColumn) * plan.columnWidth,
    top: Math.floor(worker / plan.workersPerRow) * plan.rowHeight,
  };
}
