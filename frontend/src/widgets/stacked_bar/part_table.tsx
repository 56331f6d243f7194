/** The parts of a stacked bar as a table: name, time and share. */
import { columnScale, formatRatio, NOT_MEASURED } from "../../base/format";
import { type Microseconds, ratio } from "../../base/units";
import type { BarPart } from "./stacked_bar";

export interface PartRow extends BarPart {
  readonly time: Microseconds;
  /** The standard deviation over the steps; null if it is undefined. */
  readonly deviation: Microseconds | null;
  /** Whether it is a part of the row above, which includes its time. */
  readonly isPart: boolean;
}

interface PartTableProps {
  readonly label: string;
  readonly rows: readonly PartRow[];
  readonly total: Microseconds;
  /** The name of the total. */
  readonly whole?: string;
  readonly pointed: string | null;
  readonly point: (id: string | null) => void;
}

export function PartTable(props: PartTableProps) {
  const { label, rows, total, whole = "Step", pointed, point } = props;
  const hasDeviation = rows.some(({ deviation }) => deviation !== null);
  // The usual unit for the total.
  const scale = columnScale("time", total * 10);
  return (
    <table class="small-table part-table" aria-label={label} onMouseLeave={() => point(null)}>
      <thead>
        <tr>
          <th scope="col">Part</th>
          <th scope="col">Time ({scale.unit})</th>
          {hasDeviation ? (
            <th scope="col" title="Standard deviation over the steps">
              σ ({scale.unit})
            </th>
          ) : null}
          <th scope="col">Share</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr
            key={row.id}
            class={[row.time > 0 ? "" : "muted", pointed === row.id ? "pointed" : ""].join(" ")}
            onMouseEnter={() => point(row.id)}
          >
            <th scope="row" class={row.isPart ? "part" : ""} title={row.label}>
              <span class="swatch" style={{ background: row.color }} />
              {row.label}
            </th>
            <td>{scale.format(row.time)}</td>
            {hasDeviation ? (
              <td class="muted">
                {row.deviation === null ? NOT_MEASURED : scale.format(row.deviation)}
              </td>
            ) : null}
            <td>{formatRatio(ratio(row.share))}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">{whole}</th>
          <td>{scale.format(total)}</td>
          {hasDeviation ? <td /> : null}
          <td>{formatRatio(ratio(1))}</td>
        </tr>
      </tfoot>
    </table>
  );
}
