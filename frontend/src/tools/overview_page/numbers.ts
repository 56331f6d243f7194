/** Formats the overview's readings and findings. */
import { formatBytes, formatCount, formatRatio, formatTime, significant } from "../../base/format";
import { bytes, microseconds, ratio } from "../../base/units";
import type { Explanation } from "../../widgets/table/columns";
import type { Finding, Overview, Reading } from "./payload";

const US_PER_MS = 1000;

export function formatMs(ms: number): string {
  return formatTime(microseconds(ms * US_PER_MS));
}

/** The time of the average step, preferably the server's figure; NaN if there are no steps. */
export function averageMs({ figures, steps }: Overview): number {
  const value = figures.get("step_time_average")?.value ?? Number.NaN;
  return Number.isNaN(value) ? steps.average / US_PER_MS : value;
}

/** A value in a suitable unit; null if it was not measured. */
export function formatReading({ value, unit, text }: Pick<Reading, "value" | "unit" | "text">) {
  if (Number.isNaN(value)) return text || null;
  switch (unit) {
    case "ms":
      return formatMs(value);
    case "%":
      return formatRatio(ratio(value / 100));
    case "bytes":
      return formatBytes(bytes(value));
    case "count":
      return formatCount(value);
    case "GFLOP/s":
      return value >= 1000
        ? `${significant(value / 1000)} TFLOP/s`
        : `${significant(value)} ${unit}`;
    case "GB/s":
      return value >= 1000 ? `${significant(value / 1000)} TB/s` : `${significant(value)} ${unit}`;
    default:
      return unit === "" ? significant(value) : `${significant(value)} ${unit}`;
  }
}

/** "Could save up to 1.10 ms of each step, 31.6 %."; "" if no gain is known. */
export function formatGain({ gainMs, gainRatio }: Finding): string {
  const time = gainMs > 0 ? formatMs(gainMs) : "";
  const share = gainRatio > 0 ? formatRatio(ratio(gainRatio)) : "";
  if (time === "") return share === "" ? "" : `Could save up to ${share} of the step.`;
  return `Could save up to ${time} of each step${share === "" ? "" : `, ${share}`}.`;
}

const UNITS: Readonly<Record<string, string>> = {
  ms: "time, in a suitable unit",
  "%": "percent",
  bytes: "bytes, in powers of 1,024",
};

/** The server's explanation of a reading. */
export function explain(
  overview: Overview,
  id: string,
  otherwise: string,
  source: string,
): Explanation {
  const reading = overview.figures.get(id);
  const unit = reading?.unit ?? "";
  return {
    formula: reading?.explanation || otherwise,
    unit: UNITS[unit] ?? (unit || "none"),
    source,
  };
}
