/** Formats and parses times of the trace. */
import { formatTime } from "../../../base/format";
import { microseconds } from "../../../base/units";

const PS_PER_US = 1e6;

/** "312 ns", "4.21 µs"; below a nanosecond "120 ps". */
export function formatPs(ps: number): string {
  if (ps !== 0 && Math.abs(ps) < 999.5) return `${Number(ps.toPrecision(3))} ps`;
  return formatTime(microseconds(ps / PS_PER_US));
}

/** Units in ps, the largest first. */
export const UNITS: readonly (readonly [unit: string, ps: number])[] = [
  ["s", 1e12],
  ["ms", 1e9],
  ["µs", 1e6],
  ["ns", 1e3],
  ["ps", 1],
];

/**
 * An instant of the axis, exact to the nanosecond (below a microsecond, to the picosecond), or
 * rounded to `roundingPs`: "1.919 033 505 s", "40.000 012 ms". Digits after the point are in groups
 * of three, so that close instants can be distinguished.
 */
export function formatInstant(ps: number, roundingPs = 0): string {
  if (!Number.isFinite(ps)) return "–";
  const size = Math.abs(ps);
  const [unit, step] = UNITS.find(([, least]) => size >= least) ?? UNITS[UNITS.length - 1];
  const written = Math.max(Math.round(Math.log10(step)) - (size < 1e6 ? 0 : 3), 0);
  const known = roundingPs > 0 ? Math.max(Math.floor(Math.log10(step / roundingPs)), 0) : written;
  const decimals = Math.min(written, known);
  const [whole, part = ""] = (ps / step).toFixed(decimals).split(".");
  const digits = part.replace(/0+$/, "");
  const grouped = groupDigits(whole);
  if (digits === "") return `${grouped} ${unit}`;
  const filled = Math.min(Math.ceil(digits.length / 3) * 3, decimals);
  const groups = digits.padEnd(filled, "0").match(/.{1,3}/g) ?? [];
  return `${grouped}.${groups.join("\u202f")} ${unit}`;
}

/** "12,345" for "12345". */
export function groupDigits(whole: string): string {
  return whole.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Parses "5 µs", "1.5ms" or "20" (µs) to ps; NaN if it is not a time, 0 if it is empty. */
export function parseTime(text: string): number {
  const trimmed = text.trim();
  if (trimmed === "") return 0;
  const match = /^(\d+(?:[.,]\d+)?)\s*(ps|ns|us|µs|μs|ms|s)?$/i.exec(trimmed);
  if (!match) return Number.NaN;
  const unit = (match[2] ?? "µs").toLowerCase().replace(/^(us|μs)$/, "µs");
  const step = UNITS.find(([name]) => name === unit)?.[1] ?? PS_PER_US;
  return Number(match[1].replace(",", ".")) * step;
}
