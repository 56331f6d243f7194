/** Draws ranges of the axis: the selected range, marks, and what is being dragged. */

import type { TextFit } from "../../../../widgets/canvas/text_fit";
import { formatInstant, formatPs } from "../../model/time";
import type { Mark, Span } from "../../model/types";
import { AXIS_HEIGHT, AXIS_LINE, type Drag, type OverlayInput } from "./overlay_input";
import { timeInStep } from "./step_axis";

const PILL_HEIGHT = 16;
const PILL_INSET = 5;

/** The selected range: tinted in its lanes, with lines at its ends, and its length. */
export function drawRange(pen: CanvasRenderingContext2D, input: OverlayInput, fit: TextFit): void {
  const { range, colors, lanes } = input;
  if (!range) return;
  const [left, right] = edges(input, range);
  if (right < 0 || left > input.width) return;
  const bottom = AXIS_HEIGHT + input.height;
  const x = Math.max(left, -2);
  const width = Math.min(right, input.width + 2) - x;
  pen.fillStyle = colors.css.accent;
  pen.globalAlpha = 0.16;
  if (range.tracks === null) pen.fillRect(x, AXIS_HEIGHT, width, input.height);
  else {
    const keys = new Set(range.tracks);
    for (const { lane, y, clip } of lanes) {
      if (!keys.has(lane.key)) continue;
      const top = Math.max(y, clip);
      pen.fillRect(x, AXIS_HEIGHT + top, width, Math.min(y + lane.height, input.height) - top);
    }
  }
  pen.globalAlpha = 1;
  for (const edge of [left, right])
    pen.fillRect(Math.round(edge) - 0.5, AXIS_HEIGHT, 1, bottom - AXIS_HEIGHT);
  pen.fillRect(x, AXIS_HEIGHT - 3, width, 3);
  drawLength(pen, input, range, fit);
}

/** A line with a flag in the axis; for a range, a bar in the axis. */
export function drawMarks(pen: CanvasRenderingContext2D, input: OverlayInput, fit: TextFit): void {
  const { marks, colors, width, height } = input;
  marks.forEach((mark) => {
    const [left, right] = edges(input, mark);
    if (right < -200 || left > width + 2) return;
    pen.fillStyle = colors.css.text;
    pen.fillRect(Math.round(left), 2, 1, AXIS_HEIGHT + height - 2);
    if (right - left >= 1) {
      pen.fillRect(Math.round(right), 2, 1, AXIS_HEIGHT + height - 2);
      pen.fillRect(
        Math.max(left, -2),
        AXIS_HEIGHT - 4,
        Math.min(right, width + 2) - Math.max(left, -2),
        2,
      );
    }
    const { x, width: flag, text } = markFlag(mark, input, fit);
    pen.fillRect(x, 2, flag, PILL_HEIGHT);
    pen.fillStyle = colors.css.background;
    pen.fillText(text, x + PILL_INSET, 2 + PILL_HEIGHT / 2 + 0.5);
  });
}

const FLAG_MAX = 160;

/** A label on the time axis, in CSS pixels of the canvas. */
interface Pill {
  readonly x: number;
  readonly width: number;
  readonly text: string;
}

/** The position of a mark's flag, in CSS pixels of the canvas. */
export function markFlag(
  mark: Mark,
  input: Pick<OverlayInput, "view" | "width">,
  fit: TextFit,
): Pill {
  const [left] = edges(input, mark);
  const text = fit.fit(mark.label || "Mark", FLAG_MAX);
  return { x: Math.round(left), width: fit.width(text) + 2 * PILL_INSET, text };
}

/** A band over all lanes for the range that will be zoomed to. */
export function drawZoomBox(
  pen: CanvasRenderingContext2D,
  input: OverlayInput,
  fit: TextFit,
): void {
  const { drag, colors, height, width } = input;
  if (!drag) return;
  const [left, right] = edges(input, drag);
  pen.fillStyle = colors.css.text;
  pen.globalAlpha = 0.12;
  pen.fillRect(0, AXIS_HEIGHT, left, height);
  pen.fillRect(right, AXIS_HEIGHT, width - right, height);
  pen.globalAlpha = 1;
  drawLength(pen, input, drag, fit);
}

export function drawDragBox(
  pen: CanvasRenderingContext2D,
  input: OverlayInput,
  fit: TextFit,
): void {
  const { drag, colors } = input;
  if (!drag) return;
  const [left, right] = edges(input, drag);
  const { top, bottom }: Drag = drag;
  pen.fillStyle = colors.css.accent;
  pen.globalAlpha = 0.16;
  pen.fillRect(left, AXIS_HEIGHT + top, right - left, bottom - top);
  pen.globalAlpha = 1;
  pen.strokeStyle = colors.css.accent;
  pen.lineWidth = 1;
  pen.strokeRect(left + 0.5, AXIS_HEIGHT + top + 0.5, right - left - 1, bottom - top - 1);
  drawLength(pen, input, drag, fit);
}

/** The length of a range, above it in the axis, or beside it if it is too narrow. */
function drawLength(
  pen: CanvasRenderingContext2D,
  input: OverlayInput,
  span: Span,
  fit: TextFit,
): void {
  const { colors } = input;
  const { x, width, text } = lengthPill(input, span, fit);
  pen.fillStyle = colors.css.accent;
  pen.fillRect(x, 3, width, PILL_HEIGHT);
  pen.fillStyle = colors.css.onAccent;
  pen.fillText(text, x + PILL_INSET, 3 + PILL_HEIGHT / 2 + 0.5);
}

type AxisInput = Pick<OverlayInput, "view" | "width" | "marks">;

/** The position of a range's length: in its middle, or beside flags of marks there. */
export function lengthPill(input: AxisInput, span: Span, fit: TextFit): Pill {
  const [left, right] = edges(input, span);
  const text = formatPs(span.to - span.from);
  const width = fit.width(text) + 2 * PILL_INSET;
  const most = input.width - width - 2;
  const clamp = (x: number) => Math.round(Math.max(2, Math.min(x, most)));
  const middle = (Math.max(left, 0) + Math.min(right, input.width)) / 2;
  const flags = input.marks.map((mark) => markFlag(mark, input, fit));
  const isFree = (x: number) => flags.every((flag) => !meets(flag, { x, width }));
  const places = [
    middle - width / 2,
    ...flags.flatMap((flag) => [flag.x + flag.width + 2, flag.x - width - 2]),
  ].map(clamp);
  const free = places.filter(isFree);
  const nearest = free.sort((a, b) => Math.abs(a - places[0]) - Math.abs(b - places[0]));
  return { x: nearest[0] ?? places[0], width, text };
}

/** The labels on the time axis, which hide tick labels below them. */
export function axisPills(
  input: AxisInput & Pick<OverlayInput, "range" | "drag" | "pointerX" | "zero">,
  fit: TextFit,
): Pill[] {
  const { marks, range, drag } = input;
  const cursor = cursorPill(input, fit);
  const spans = [...(range ? [range] : []), ...(drag ? [drag] : [])];
  return [
    ...marks.map((mark) => markFlag(mark, input, fit)),
    ...spans.map((span) => lengthPill(input, span, fit)),
    ...(cursor ? [cursor] : []),
  ];
}

/** The time at the pointer; null while dragging, or if the pointer is elsewhere. */
export function cursorPill(
  input: AxisInput & Pick<OverlayInput, "drag" | "pointerX" | "zero">,
  fit: TextFit,
): Pill | null {
  const { pointerX, drag, view, width, zero } = input;
  if (pointerX === null || drag !== null) return null;
  const perPixel = (view.to - view.from) / width;
  const text = formatInstant(view.from + pointerX * perPixel - zero, perPixel);
  return pillAround(pointerX, text, width, fit);
}

function pillAround(x: number, text: string, width: number, fit: TextFit): Pill {
  const size = fit.width(text) + 2 * PILL_INSET;
  return {
    x: Math.round(Math.max(2, Math.min(x - size / 2, width - size - 2))),
    width: size,
    text,
  };
}

/** The same since the start of the step; null outside of steps. */
export function stepPill(
  input: Pick<OverlayInput, "view" | "width" | "drag" | "pointerX" | "steps">,
  fit: TextFit,
): Pill | null {
  const { pointerX, drag, view, width, steps } = input;
  if (pointerX === null || drag !== null) return null;
  const perPixel = (view.to - view.from) / width;
  const text = timeInStep(steps, view.from + pointerX * perPixel, perPixel);
  return text === "" ? null : pillAround(pointerX, text, width, fit);
}

/** Draws the time at the pointer on the axis, and below it the time since the start of the step. */
export function drawCursor(pen: CanvasRenderingContext2D, input: OverlayInput, fit: TextFit): void {
  const { colors } = input;
  const above = cursorPill(input, fit);
  const below = stepPill(input, fit);
  const lines = [
    ...(above ? [{ ...above, y: 3 }] : []),
    ...(below ? [{ ...below, y: AXIS_LINE - 1 }] : []),
  ];
  for (const { x, y, width: size, text } of lines) {
    pen.fillStyle = colors.css.panel;
    pen.fillRect(x - 1, y, size + 2, PILL_HEIGHT);
    pen.strokeStyle = colors.css.muted;
    pen.lineWidth = 1;
    pen.strokeRect(x + 0.5, y + 0.5, size - 1, PILL_HEIGHT - 1);
    pen.fillStyle = colors.css.text;
    pen.fillText(text, x + PILL_INSET, y + PILL_HEIGHT / 2 + 0.5);
  }
}

export function meets(a: Omit<Pill, "text">, b: Omit<Pill, "text">): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width;
}

function edges(
  { view, width }: Pick<OverlayInput, "view" | "width">,
  span: Span,
): [number, number] {
  const perPs = width / (view.to - view.from);
  return [(span.from - view.from) * perPs, (span.to - view.from) * perPs];
}
