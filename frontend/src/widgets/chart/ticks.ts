/** Axis ticks at 1, 2 or 5 times a power of ten in the displayed unit. */
import { formatTick, type Scale } from "../../base/format";
import type { Pen } from "./pen";

/** The increment of at most `marks` ticks over `span`; 0 if there is no span. */
export function tickIncrement(span: number, factor: number, marks: number): number {
  const least = (span * factor) / Math.max(marks, 1);
  if (!(least > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(least) + 1e-9);
  const digit = [1, 2, 5, 10].find((candidate) => candidate * power >= least * (1 - 1e-9)) ?? 10;
  return (digit * power) / factor;
}

interface ValueAxis {
  /** The value at the upper edge. */
  readonly top: number;
  readonly increment: number;
  readonly scale: Scale;
  readonly left: number;
  readonly right: number;
  readonly y: (value: number) => number;
  readonly colors: { readonly border: string; readonly muted: string };
}

/** Draws grid lines across the plotting area, and their values to the left of it. */
export function drawValueAxis(pen: Pen, axis: ValueAxis): void {
  const { top, increment, scale, left, right, y, colors } = axis;
  if (!(increment > 0)) return;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (let value = 0; value <= top * 1.0001; value += increment) {
    pen.fillStyle = colors.border;
    pen.fillRect(left, Math.round(y(value)), right - left, 1);
    pen.fillStyle = colors.muted;
    pen.fillText(formatTick(value, scale, increment), left - 6, y(value));
  }
}

/** At most `marks` ticks, 1, 2 or 5 times a power of ten in the displayed unit apart. */
export function marksOf(
  from: number,
  to: number,
  factor: number,
  marks: number,
): { readonly values: readonly number[]; readonly increment: number } {
  const increment = tickIncrement(to - from, factor, marks);
  if (increment === 0) return { values: [], increment: 1 };
  const first = Math.ceil(from / increment - 1e-9);
  const last = Math.floor(to / increment + 1e-9);
  const values = Array.from(
    { length: Math.max(last - first + 1, 0) },
    (_, index) => (first + index) * increment,
  );
  return { values, increment };
}
