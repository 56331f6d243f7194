/** The arguments of an event with their units and meanings. */
import {
  formatBytes,
  formatCount,
  formatPrefixed,
  NOT_MEASURED,
  significant,
} from "../../../base/format";
import { cut } from "../../../base/names";
import { bytes } from "../../../base/units";
import { formatPs } from "../model/time";
import type { EventStat } from "../protocol/answers";

const MOST_SHOWN = 2000;

export function StatTable({ stats }: { stats: readonly EventStat[] }) {
  if (stats.length === 0) return <p class="muted">None were recorded.</p>;
  return (
    <table class="trace-stats">
      <tbody>
        {stats.map((stat, index) => (
          <tr key={index}>
            <th scope="row" title={stat.key === stat.label ? undefined : stat.key.slice(0, 500)}>
              {cut(stat.label, 200)}
            </th>
            <td title={exactly(stat)}>
              {statText(stat)}
              {stat.text === "" || stat.value === null || stat.text === statText(stat) ? null : (
                <span class="muted trace-meaning">{cut(stat.text, MOST_SHOWN)}</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const PS: Readonly<Record<string, number>> = { ps: 1, ns: 1e3, us: 1e6, ms: 1e9 };

/** The value in a suitable unit. */
export function statText({ value, unit, text }: EventStat): string {
  if (value === null) return text === "" ? NOT_MEASURED : cut(text, MOST_SHOWN);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return cut(value, MOST_SHOWN);
  if (unit in PS) return formatPs(value * PS[unit]);
  switch (unit) {
    case "bytes":
      return formatBytes(bytes(value));
    case "bool":
      return value === 0 ? "no" : "yes";
    case "percent":
      return `${significant(value)} %`;
    case "ratio":
      return `${significant(value * 100)} %`;
    case "flops":
      return formatPrefixed(value, "FLOP");
    case "address":
      return value < 0 ? String(value) : `0x${value.toString(16)}`;
    case "id":
      return String(value);
    default:
      return Number.isInteger(value) ? String(value) : significant(value);
  }
}

const EXACT = ["bytes", "flops", "address"];

/** The value as it was recorded, if it is displayed differently. */
function exactly({ value, unit }: EventStat): string | undefined {
  if (typeof value !== "number" || !(unit in PS || EXACT.includes(unit))) return undefined;
  const number = unit === "bytes" || unit === "flops" ? formatCount(value) : String(value);
  return unit === "address" ? number : `${number} ${unit}`;
}
