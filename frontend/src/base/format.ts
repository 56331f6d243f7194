/** Formats every number that users read. */
import type { Bytes, Microseconds, Milliseconds, Ratio } from "./units";

/** What a column's numbers measure. Times are stored in µs, sizes in bytes, ratios as 0–1. */
export type Quantity = "time" | "bytes" | "ratio" | "percent" | "count" | "rank" | "number";

/** How a column or an axis formats its numbers: all in one unit, which the header shows. */
export interface Scale {
  /** Unit for the header, or "". */
  readonly unit: string;
  /** Stored value × factor = displayed value. */
  readonly factor: number;
  readonly format: (stored: number) => string;
}

export const NOT_MEASURED = "–";

interface UnitStep {
  readonly unit: string;
  readonly size: number;
}

const TIME_STEPS: readonly UnitStep[] = [
  { unit: "ns", size: 1e-3 },
  { unit: "µs", size: 1 },
  { unit: "ms", size: 1e3 },
  { unit: "s", size: 1e6 },
];
const BYTE_STEPS: readonly UnitStep[] = ["B", "KiB", "MiB", "GiB", "TiB"].map((unit, power) => ({
  unit,
  size: 1024 ** power,
}));

/** From this value on, a column uses the next larger unit. */
const COLUMN_MAX = 10_000;
/** The same if many values would be too small for the larger unit. */
const WIDE_COLUMN_MAX = 1_000_000;
const MANY = 0.5;
const MAX_DECIMALS = 6;
/** In columns; smaller values are shown as "<0.0001". */
const COLUMN_DECIMALS = 4;

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const day = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });

/** "312 ns", "4.21 µs", "38.0 ms", "1.20 s". */
export function formatTime(value: Microseconds): string {
  return withUnit(value, TIME_STEPS, 1000);
}

/** "512 B", "3.11 GiB". */
export function formatBytes(value: Bytes): string {
  if (Math.abs(value) < 1024) return `${whole.format(value)} B`;
  return withUnit(value, BYTE_STEPS, 1024);
}

/** "9,251,200". */
export function formatCount(value: number): string {
  return whole.format(value);
}

/** "31.6 %". */
export function formatRatio(value: Ratio): string {
  return `${oneDecimal(value * 100)} %`;
}

/** "2026-11-21 01:25", local time. */
export function formatDate(value: Milliseconds): string {
  return Number.isFinite(value) && Math.abs(value) < 8.64e15 ? day.format(value) : NOT_MEASURED;
}

/** "record again" as "Record again."; names keep their case: "tf.data was …". */
export function sentence(text: string): string {
  return sentenceCase(/[.!?…]$|^$/.test(text) ? text : `${text}.`);
}

/** "decoding ops" as "Decoding ops". */
export function sentenceCase(text: string): string {
  return /^[a-z]+ /.test(text) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text;
}

/** "1 op", "2,300 ops". */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : nouns}`;
}

/** At least three significant digits; integer digits are never rounded: "0.0210", "4.21", "3,324". */
export function significant(value: number): string {
  return rounded(value, MAX_DECIMALS);
}

/** The same with at most `most` decimals. */
function rounded(value: number, most: number): string {
  if (!Number.isFinite(value)) return NOT_MEASURED;
  if (value === 0) return "0";
  const size = Math.abs(Number(value.toPrecision(3)));
  const least = 10 ** -most;
  if (size < least) return value < 0 ? "≈0" : `<${least.toFixed(most)}`;
  const decimals = Math.min(Math.max(2 - Math.floor(Math.log10(size)), 0), most);
  return decimals === 0 ? whole.format(value) : value.toFixed(decimals);
}

const PREFIXES = ["", "k", "M", "G", "T", "P", "E"];

/** "85.9 GFLOP", "918 TFLOP/s": with the decimal prefix that fits. */
export function formatPrefixed(value: number, unit: string): string {
  if (!Number.isFinite(value)) return NOT_MEASURED;
  if (value === 0) return `0 ${unit}`;
  const power = Math.floor(Math.log10(Number(Math.abs(value).toPrecision(3))) / 3);
  const step = Math.max(0, Math.min(power, PREFIXES.length - 1));
  return `${significant(value / 1000 ** step)} ${PREFIXES[step]}${unit}`;
}

/**
 * The scale of a column whose largest magnitude is `max`. Given its `values`, it uses a smaller unit
 * if many of them would otherwise be too small.
 */
export function columnScale(
  quantity: Quantity,
  max: number,
  unit = "",
  values: ArrayLike<number> = [],
): Scale {
  switch (quantity) {
    case "time":
      return stepScale(TIME_STEPS, max, values);
    case "bytes":
      return stepScale(BYTE_STEPS, max, values, true);
    case "ratio":
      return { unit: "%", factor: 100, format: (value) => oneDecimal(value * 100) };
    case "percent":
      return { unit: "%", factor: 1, format: oneDecimal };
    case "count":
    case "rank":
      return { unit: "", factor: 1, format: (value) => whole.format(value) };
    case "number":
      return { unit, factor: 1, format: (value) => rounded(value, COLUMN_DECIMALS) };
  }
}

/** A tick label: as many decimals as ticks that are `increment` apart need. */
export function formatTick(stored: number, scale: Scale, increment: number): string {
  const decimals = Math.max(0, -Math.floor(Math.log10(increment * scale.factor) + 1e-9));
  return (stored * scale.factor).toFixed(Math.min(decimals, MAX_DECIMALS));
}

/** The units that filters accept, in lower case, as factors to stored values. */
export function unitFactors(quantity: Quantity): ReadonlyMap<string, number> {
  switch (quantity) {
    case "time":
      return new Map([
        ["ns", 1e-3],
        ["us", 1],
        ["µs", 1],
        ["μs", 1],
        ["ms", 1e3],
        ["s", 1e6],
        ["min", 6e7],
      ]);
    case "bytes":
      return new Map([
        ["b", 1],
        ...["k", "m", "g", "t"].flatMap((letter, index): [string, number][] => [
          [`${letter}b`, 1000 ** (index + 1)],
          [`${letter}ib`, 1024 ** (index + 1)],
        ]),
      ]);
    case "ratio":
      return new Map([["%", 0.01]]);
    case "percent":
      return new Map([["%", 1]]);
    default:
      return new Map([
        ["k", 1e3],
        ["m", 1e6],
        ["g", 1e9],
      ]);
  }
}

function oneDecimal(value: number): string {
  if (!Number.isFinite(value)) return NOT_MEASURED;
  if (value > 0 && value < 0.05) return "<0.1";
  return value.toFixed(1);
}

function stepScale(
  steps: readonly UnitStep[],
  max: number,
  values: ArrayLike<number>,
  wholeBase = false,
): Scale {
  const size = Math.abs(max);
  const usual = steps.findIndex((candidate) => size < COLUMN_MAX * candidate.size);
  let at = usual < 0 ? steps.length - 1 : usual;
  while (
    at > 0 &&
    size < WIDE_COLUMN_MAX * steps[at - 1].size &&
    smallShare(values, steps[at].size / 1000) >= MANY
  )
    at--;
  const step = steps[at];
  // A column without any value other than 0 uses the stored unit.
  const used = size > 0 ? step : steps.find((candidate) => candidate.size === 1)!;
  const isWhole = wholeBase && used.size === 1;
  return {
    unit: used.unit,
    factor: 1 / used.size,
    format: (value) =>
      isWhole ? whole.format(value) : rounded(value / used.size, COLUMN_DECIMALS),
  };
}

/** The share of nonzero values below `bound`. */
function smallShare(values: ArrayLike<number>, bound: number): number {
  let small = 0;
  let all = 0;
  for (let index = 0; index < values.length; index++) {
    const size = Math.abs(values[index]);
    if (!(size > 0)) continue;
    all++;
    if (size < bound) small++;
  }
  return all > 0 ? small / all : 0;
}

function withUnit(value: number, steps: readonly UnitStep[], base: number): string {
  if (!Number.isFinite(value)) return NOT_MEASURED;
  if (value === 0) return `0 ${steps.find((step) => step.size === 1)!.unit}`;
  const isBelow = (written: number) =>
    Math.max(Math.abs(written), Math.abs(Number(written.toPrecision(3)))) < base;
  const step = steps.find((candidate) => isBelow(value / candidate.size)) ?? steps.at(-1)!;
  return `${significant(value / step.size)} ${step.unit}`;
}
