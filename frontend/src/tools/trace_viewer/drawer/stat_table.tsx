/** The arguments of an event with their units. */
import { NOT_MEASURED, significant } from "../../../base/format";
import { cut } from "../../../base/names";
import type { EventStat } from "../answers";

const MOST_SHOWN = 2000;

export function StatTable({ stats }: { stats: readonly EventStat[] }) {
  if (stats.length === 0) return <p class="muted">None were recorded.</p>;
  return (
    <table class="trace-stats">
      <tbody>
        {stats.map((stat, at) => (
          <tr key={at}>
            <th scope="row" title={stat.key === stat.label ? undefined : stat.key.slice(0, 500)}>
              {cut(stat.label, 200)}
            </th>
            <td>{statText(stat)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** As the server writes it, else the value with its unit. */
export function statText({ value, unit, text }: EventStat): string {
  if (text !== "") return cut(text, MOST_SHOWN);
  if (value === null) return NOT_MEASURED;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return cut(unit === "" ? value : `${value} ${unit}`, MOST_SHOWN);
  const shown = Number.isInteger(value) ? String(value) : significant(value);
  return unit === "" ? shown : `${shown} ${unit}`;
}
