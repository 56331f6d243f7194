/** Rates in the unit that fits them. */
import { NOT_MEASURED, significant } from "../../base/format";

const PREFIXES = ["", "k", "M", "G", "T", "P", "E"];

/** "918 TFLOP/s" of 10⁹ per second. */
export function formatRate(giga: number, unit: "FLOP/s" | "B/s"): string {
  if (!Number.isFinite(giga)) return NOT_MEASURED;
  if (giga === 0) return `0 ${unit}`;
  const power = Math.floor(Math.log10(Number((giga * 1e9).toPrecision(3))) / 3);
  const step = Math.max(0, Math.min(power, PREFIXES.length - 1));
  return `${significant((giga * 1e9) / 1000 ** step)} ${PREFIXES[step]}${unit}`;
}

/** Per second, of GiB per second: "1.64 TB/s". */
export function formatBandwidth(gibi: number): string {
  return formatRate(gibi * (2 ** 30 / 1e9), "B/s");
}
