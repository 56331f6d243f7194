/** Memory and instants as a person reads them here. */
import { columnScale, formatBytes, formatRatio, NOT_MEASURED, type Scale } from "../../base/format";
import { bytes, ratio } from "../../base/units";

const GIB = 1024 ** 3;
const MOST_IN_GIB = 9999 * GIB;
const PS_PER_MS = 1e9;

const grouped = (decimals: number) =>
  new Intl.NumberFormat("en-US", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });

/** One unit for amounts up to `most`: GiB, unless everything would be a small part of one. */
export function memoryScale(most: number): Scale {
  return columnScale("bytes", most >= GIB / 10 ? Math.max(most, MOST_IN_GIB) : most);
}

/** Picoseconds at an axis in milliseconds. */
export const MILLISECONDS: Scale = {
  unit: "ms",
  factor: 1 / PS_PER_MS,
  format: (value) => formatTraceTime(value),
};

/** "2,586.982 ms"; with more decimals where the window of `span` ps is short. */
export function formatTraceTime(ps: number, span = Number.POSITIVE_INFINITY): string {
  if (!Number.isFinite(ps)) return NOT_MEASURED;
  const decimals = span < PS_PER_MS ? (span < PS_PER_MS / 1000 ? 9 : 6) : 3;
  return `${grouped(decimals).format(ps / PS_PER_MS)} ms`;
}

export function formatAmount(value: number): string {
  return formatBytes(bytes(value));
}

/** In GiB, but for amounts that would have to be looked for there. */
export function formatGibibytes(value: number): string {
  return value === 0 || value >= GIB / 100
    ? formatIn(memoryScale(GIB), value)
    : formatAmount(value);
}

/** `value` in the unit of `scale`. */
function formatIn(scale: Scale, value: number): string {
  return Number.isNaN(value) ? NOT_MEASURED : `${scale.format(value)} ${scale.unit}`;
}

export function formatMemoryShare(value: number): string {
  return Number.isNaN(value) ? NOT_MEASURED : formatRatio(ratio(value));
}
