/** Formats amounts of memory and instants. */
import { columnScale, formatBytes, formatRatio, NOT_MEASURED, type Scale } from "../../base/format";
import { bytes, ratio } from "../../base/units";

const GIB = 1024 ** 3;
const LEAST_IN_GIB = GIB / 10;
const MOST_IN_GIB = 9999 * GIB;
const PS_PER_MS = 1e9;

const grouped = (decimals: number) =>
  new Intl.NumberFormat("en-US", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });

/** One unit for amounts up to `most`: GiB, or a smaller one if all amounts are small. */
export function memoryScale(most: number): Scale {
  return columnScale("bytes", most >= LEAST_IN_GIB ? Math.max(most, MOST_IN_GIB) : most);
}

/** From here on, times are shown in seconds. */
const LONG_PS = 10_000 * PS_PER_MS;

/** The scale of a time axis in ps that ends at `to`: milliseconds, or seconds for long times. */
export function traceTimeScale(to: number): Scale {
  const isLong = to >= LONG_PS;
  return {
    unit: isLong ? "s" : "ms",
    factor: 1 / (isLong ? 1000 * PS_PER_MS : PS_PER_MS),
    format: (value) => formatTraceTime(value),
  };
}

/** "2,586.982 ms", "15.663 s"; with more decimals if the window of `span` ps is short. */
export function formatTraceTime(ps: number, span = Number.POSITIVE_INFINITY): string {
  if (!Number.isFinite(ps)) return NOT_MEASURED;
  const decimals = span < PS_PER_MS ? (span < PS_PER_MS / 1000 ? 9 : 6) : 3;
  if (Math.abs(ps) < LONG_PS) return `${grouped(decimals).format(ps / PS_PER_MS)} ms`;
  const more = span < 1000 * PS_PER_MS ? 3 : 0;
  return `${grouped(Math.min(decimals + more, 12)).format(ps / (1000 * PS_PER_MS))} s`;
}

export function formatAmount(value: number): string {
  return formatBytes(bytes(value));
}

/** In GiB, but in a smaller unit for small amounts. */
export function formatGibibytes(value: number): string {
  return value === 0 || value >= LEAST_IN_GIB
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
