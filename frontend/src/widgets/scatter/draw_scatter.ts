/** Draws a scatter plot: axes, roofs, and marks that differ in shape as well as in color. */
import { resolveColor } from "../../base/theme";
import type { Box, Pen } from "../chart/pen";
import { paperColors } from "../chart/theme_colors";
import {
  type Axis,
  type PointKind,
  type Range,
  type Roof,
  roofAt,
  type ScatterPoints,
} from "./points";

export interface ScatterPicture {
  readonly points: ScatterPoints;
  readonly kinds: readonly PointKind[];
  readonly roofs: readonly Roof[];
  readonly x: Axis;
  readonly y: Axis;
  readonly range: Range;
  /** The size of the whole picture in pixels. */
  readonly width: number;
  readonly height: number;
}

type ScatterColors = Readonly<ReturnType<typeof scatterColors>>;

const MARGIN = { left: 58, right: 14, top: 24, bottom: 40 } as const;
const LEAST_RADIUS = 3.5;
const MOST_RADIUS = 24;
const FONT = "11px sans-serif";
const LINE = 13;

export function scatterColors(kinds: readonly PointKind[]) {
  return {
    ...paperColors(),
    kinds: kinds.map(({ color }) => resolveColor(color)),
  };
}

export function plotBox({ width, height }: { width: number; height: number }): Box {
  return {
    left: MARGIN.left,
    top: MARGIN.top,
    width: Math.max(width - MARGIN.left - MARGIN.right, 1),
    height: Math.max(height - MARGIN.top - MARGIN.bottom, 1),
  };
}

/** The scales of both axes: from values to pixels. */
export function places(picture: ScatterPicture) {
  const box = plotBox(picture);
  const { x, y } = picture.range;
  return {
    x: (value: number) => box.left + ((Math.log10(value) - x[0]) / (x[1] - x[0])) * box.width,
    y: (value: number) => box.top + (1 - (Math.log10(value) - y[0]) / (y[1] - y[0])) * box.height,
  };
}

/** The radius of each mark in pixels. */
export function markRadii({ weight }: ScatterPoints): Float64Array {
  const most = weight.reduce((top, value) => Math.max(top, value || 0), 0);
  return weight.map((value) =>
    Math.max(most > 0 ? Math.sqrt((value || 0) / most) * MOST_RADIUS : 0, LEAST_RADIUS),
  );
}

export function drawScatter(pen: Pen, picture: ScatterPicture, colors: ScatterColors): void {
  const box = plotBox(picture);
  pen.font = FONT;
  pen.fillStyle = colors.background;
  pen.fillRect(0, 0, picture.width, picture.height);
  drawGrid(pen, picture, colors, box);
  pen.save();
  pen.beginPath();
  pen.rect(box.left, box.top, box.width, box.height);
  pen.clip();
  drawRoofs(pen, picture, colors, box);
  drawMarks(pen, picture, colors);
  drawRoofLabels(pen, picture, colors, box);
  pen.restore();
}

/** Draws a ring around a point, and a line to its roof. */
export function drawPointed(
  pen: Pen,
  picture: ScatterPicture,
  colors: ScatterColors,
  point: number,
  radius: number,
): void {
  const at = places(picture);
  const box = plotBox(picture);
  const [x, y] = [at.x(picture.points.x[point]), at.y(picture.points.y[point])];
  const roof = roofAt(picture.roofs, picture.points.x[point]);
  pen.save();
  pen.beginPath();
  pen.rect(box.left, box.top, box.width, box.height);
  pen.clip();
  pen.strokeStyle = colors.text;
  if (roof) {
    pen.lineWidth = 1;
    pen.setLineDash([3, 3]);
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x, at.y(roof.y));
    pen.stroke();
    pen.setLineDash([]);
  }
  pen.lineWidth = 2;
  pen.beginPath();
  pen.arc(x, y, radius + 3, 0, 2 * Math.PI);
  pen.stroke();
  pen.restore();
}

function drawGrid(pen: Pen, picture: ScatterPicture, colors: ScatterColors, box: Box): void {
  const at = places(picture);
  const { range, x, y } = picture;
  pen.textBaseline = "top";
  pen.textAlign = "center";
  for (const power of powers(range.x, box.width / 64)) {
    const left = Math.round(at.x(10 ** power));
    pen.fillStyle = colors.border;
    pen.fillRect(left, box.top, 1, box.height);
    pen.fillStyle = colors.muted;
    pen.fillText(x.format(10 ** power), left, box.top + box.height + 5);
  }
  pen.fillText(x.title, box.left + box.width / 2, box.top + box.height + 22);
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const power of powers(range.y, box.height / 24)) {
    const top = Math.round(at.y(10 ** power));
    pen.fillStyle = colors.border;
    pen.fillRect(box.left, top, box.width, 1);
    pen.fillStyle = colors.muted;
    pen.fillText(y.format(10 ** power), box.left - 6, top);
  }
  pen.textAlign = "left";
  pen.fillText(y.title, 4, box.top - 14);
}

/** At most `most` powers of ten within a range, as exponents. */
function powers([low, high]: readonly [number, number], most: number): number[] {
  const every = Math.max(Math.ceil((high - low) / Math.max(most, 1)), 1);
  const first = Math.ceil(low / every) * every;
  const exponents: number[] = [];
  for (let power = first; power <= high; power += every) exponents.push(power);
  return exponents;
}

/** Draws the roofs: slopes end at the highest level, levels begin at the steepest slope. */
function drawRoofs(pen: Pen, picture: ScatterPicture, colors: ScatterColors, box: Box): void {
  const at = places(picture);
  const { roofs, range } = picture;
  const top = Math.max(...ofKind(roofs, "level"));
  const steepest = Math.max(...ofKind(roofs, "slope"));
  pen.lineJoin = "round";
  for (const roof of roofs) {
    pen.strokeStyle = colors.text;
    pen.globalAlpha = roof.isMain ? 0.9 : 0.45;
    pen.lineWidth = roof.isMain ? 2 : 1;
    pen.setLineDash(roof.isMain ? [] : [5, 4]);
    pen.beginPath();
    if (roof.bounds === "level") {
      const from = Number.isFinite(steepest) ? at.x(roof.value / steepest) : box.left;
      pen.moveTo(Math.max(from, box.left), at.y(roof.value));
      pen.lineTo(box.left + box.width, at.y(roof.value));
    } else {
      const low = 10 ** range.x[0];
      const high = Number.isFinite(top) ? top / roof.value : 10 ** range.x[1];
      pen.moveTo(at.x(low), at.y(low * roof.value));
      pen.lineTo(at.x(high), at.y(high * roof.value));
    }
    pen.stroke();
  }
  pen.setLineDash([]);
  pen.globalAlpha = 1;
}

function ofKind(roofs: readonly Roof[], kind: Roof["bounds"]): number[] {
  return roofs.filter(({ bounds }) => bounds === kind).map(({ value }) => value);
}

/** The heights at which slopes can be labeled, as shares of the plot height, preferred ones first. */
const SLOPE_HEIGHTS = [0.55, 0.45, 0.65, 0.35, 0.75, 0.25, 0.85];
const LEVEL_PLACES = 4;

/**
 * Levels are labeled above their right end, slopes on their upper side, where no point should be.
 * A label that would cover another one or a mark moves; if it fits nowhere, it is left out.
 */
function drawRoofLabels(pen: Pen, picture: ScatterPicture, colors: ScatterColors, box: Box): void {
  const at = places(picture);
  const { range } = picture;
  const taken = markBoxes(picture);
  pen.textAlign = "left";
  pen.textBaseline = "top";
  for (const { bounds, value, label } of mainFirst(picture.roofs)) {
    const width = pen.measureText(label).width + 6;
    const tops: readonly (readonly [left: number, top: number])[] =
      bounds === "level"
        ? Array.from({ length: LEVEL_PLACES }, (_, place) => [
            box.left + box.width - width * (1 + place / 2),
            at.y(value) - LINE - 1,
          ])
        : SLOPE_HEIGHTS.map((share) => {
            const power = range.y[0] + share * (range.y[1] - range.y[0]);
            return [at.x(10 ** power / value) - width - 4, at.y(10 ** power) - LINE];
          });
    const free = tops.find(([left, top]) => isFree({ left, top, width, height: LINE }, taken, box));
    if (!free) continue;
    taken.push({ left: free[0], top: free[1], width, height: LINE });
    write(pen, label, free[0], free[1], colors);
  }
}

function isFree(label: Box, taken: readonly Box[], within: Box): boolean {
  const isInside =
    label.left >= within.left &&
    label.left + label.width <= within.left + within.width &&
    label.top >= within.top &&
    label.top + label.height <= within.top + within.height;
  return (
    isInside &&
    taken.every(
      (other) =>
        label.left + label.width <= other.left ||
        label.left >= other.left + other.width ||
        label.top + label.height <= other.top ||
        label.top >= other.top + other.height,
    )
  );
}

/** The boxes of marks that labels must not cover; small marks may be covered. */
function markBoxes(picture: ScatterPicture): Box[] {
  const at = places(picture);
  const { x, y } = picture.points;
  return [...markRadii(picture.points)].flatMap((radius, point) =>
    radius <= 2 * LEAST_RADIUS
      ? []
      : [
          {
            left: at.x(x[point]) - radius,
            top: at.y(y[point]) - radius,
            width: 2 * radius,
            height: 2 * radius,
          },
        ],
  );
}

function mainFirst(roofs: readonly Roof[]): readonly Roof[] {
  return [...roofs].sort((roof, other) => Number(other.isMain) - Number(roof.isMain));
}

/** Writes a label on a translucent background. */
function write(pen: Pen, text: string, left: number, top: number, colors: ScatterColors): void {
  pen.globalAlpha = 0.8;
  pen.fillStyle = colors.background;
  pen.fillRect(left - 2, top - 1, pen.measureText(text).width + 4, LINE);
  pen.globalAlpha = 1;
  pen.fillStyle = colors.text;
  pen.fillText(text, left, top);
}

/** Draws the largest marks first, so that small ones are not hidden. */
function drawMarks(pen: Pen, picture: ScatterPicture, colors: ScatterColors): void {
  const at = places(picture);
  const { x, y, weight, kind } = picture.points;
  const radii = markRadii(picture.points);
  const order = Array.from(weight.keys()).sort((one, other) => weight[other] - weight[one]);
  pen.lineWidth = 1;
  for (const point of order) {
    pen.beginPath();
    traceMark(pen, kind[point], at.x(x[point]), at.y(y[point]), radii[point]);
    pen.globalAlpha = 0.75;
    pen.fillStyle = colors.kinds[kind[point]] ?? colors.muted;
    pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = colors.text;
    pen.stroke();
  }
}

type Corners = readonly (readonly [number, number])[];

/** The corners of each kind's mark on the unit circle; null for a circle. */
const MARKS: readonly (Corners | null)[] = [
  null,
  polygon(4, Math.PI / 4),
  polygon(3, -Math.PI / 2),
  polygon(4, 0),
  polygon(3, Math.PI / 2),
  polygon(6, 0),
  star(5),
  polygon(5, -Math.PI / 2),
  star(4),
];

function polygon(corners: number, turn: number): Corners {
  return Array.from({ length: corners }, (_, index) => {
    const angle = turn + (2 * Math.PI * index) / corners;
    return [Math.cos(angle), Math.sin(angle)] as const;
  });
}

function star(points: number): Corners {
  return polygon(2 * points, -Math.PI / 2).map(([x, y], index) =>
    index % 2 === 0 ? ([x, y] as const) : ([x / 2, y / 2] as const),
  );
}

/** Adds the outline of a mark to the pen's path. */
function traceMark(pen: Pen, kind: number, x: number, y: number, radius: number): void {
  const corners = MARKS[kind % MARKS.length];
  if (!corners) {
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    return;
  }
  corners.forEach(([dx, dy], index) => {
    if (index === 0) pen.moveTo(x + dx * radius, y + dy * radius);
    else pen.lineTo(x + dx * radius, y + dy * radius);
  });
  pen.closePath();
}

/** The same outline as an SVG path centered at the origin, for legends. */
export function markPath(kind: number, radius: number): string {
  const corners = MARKS[kind % MARKS.length];
  if (!corners) {
    const half = `a${radius} ${radius} 0 1 0`;
    return `M${-radius} 0${half} ${2 * radius} 0${half} ${-2 * radius} 0z`;
  }
  return `M${corners.map(([x, y]) => `${(x * radius).toFixed(2)} ${(y * radius).toFixed(2)}`).join("L")}z`;
}
