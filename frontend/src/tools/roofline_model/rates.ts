/** Formats rates in a suitable unit. */
import { formatPrefixed } from "../../base/format";

/** "918 TFLOP/s", given 10⁹ per second. */
export function formatRate(giga: number, unit: "FLOP/s" | "B/s"): string {
  return formatPrefixed(giga * 1e9, unit);
}

/** "1.64 TB/s", given GiB per second. */
export function formatBandwidth(gibi: number): string {
  return formatPrefixed(gibi * 2 ** 30, "B/s");
}
