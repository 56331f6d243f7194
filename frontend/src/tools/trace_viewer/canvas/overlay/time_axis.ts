/** The ticks of the time axis: round times since the start of the recording, in suitable units. */
import { formatInstant, groupDigits, UNITS } from "../../model/time";
import type { Span } from "../../model/types";

interface Tick {
  readonly ps: number;
  readonly text: string;
}

export interface TimeAxis {
  readonly ticks: readonly Tick[];
  /** The origin of labels that begin with "+"; "" if that is the start of the axis. */
  readonly origin: string;
}

/** The minimum distance between ticks in CSS pixels. */
const LEAST_GAP = 84;
/** The maximum number of digits of a tick before the axis uses a closer origin. */
const MOST_DIGITS = 5;

/** `zero` is the time of the view that is shown as 0. */
export function timeAxis(view: Span, width: number, zero = 0): TimeAxis {
  const [from, to] = [view.from - zero, view.to - zero];
  const step = roundStep(((to - from) / Math.max(width, 1)) * LEAST_GAP);
  const first = Math.ceil(from / step);
  const last = Math.floor(to / step);
  const largest = Math.max(Math.abs(from), Math.abs(to));
  const isNear = largest / step < 10 ** MOST_DIGITS;
  // The origin is round, too, so that it rarely changes; all ticks of a view share it.
  const round = 10 ** Math.ceil(Math.log10(step) + 3);
  const origin = isNear ? 0 : Math.floor(from / round) * round;
  const size = isNear ? largest : to - origin;
  const [unit, ps] = UNITS.find(([, one]) => one <= size) ?? UNITS[UNITS.length - 1];
  const decimals = Math.max(0, Math.ceil(-Math.log10(step / ps) - 1e-9));
  const ticks: Tick[] = [];
  for (let index = first; index <= last; index++) {
    const value = (index * step - origin) / ps;
    const [whole, part] = value.toFixed(decimals).split(".");
    const number = groupDigits(whole) + (part === undefined ? "" : `.${part}`);
    const text = `${isNear ? "" : "+"}${number} ${unit}`;
    ticks.push({ ps: index * step + zero, text: index === 0 ? "0" : text });
  }
  return { ticks, origin: isNear ? "" : formatInstant(origin) };
}

/** 1, 2 or 5 times a power of ten, at least 1 ps. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  const factor = [1, 2, 5, 10].find((multiple) => multiple * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
}
