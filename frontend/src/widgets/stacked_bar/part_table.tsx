/** The parts of a stacked bar as a table: name, time, share. */
import { columnScale, formatRatio, NOT_MEASURED } from "../../base/format";
import { type Microseconds, ratio } from "../../base/units";
import type { BarPart } from "./stacked_bar";

export interface PartRow extends BarPart {
  readonly time: Microseconds;
  /** Standard deviation over the steps, null where it is not defined. */
  readonly deviation: Microseconds | null;
  /** Of the row above, to which its time belongs. */
  readonly isPart: boolean;
}

interface PartTableProps {
  readonly label: string;
  readonly rows: readonly PartRow[];
  readonly total: Microseconds;
  /** What the parts add up to. */
  readonly whole?: string;
  readonly pointed: string | null;
  readonly point: (id: string | null) => void;
}

export function PartTable(props: PartTableProps) {
  const { label, rows, total, whole = "Step", pointed, point } = props;
  const hasDeviation = rows.some(({ deviation }) => deviation !== null);
  // The unit in which a person says the total.
  const scale = columnScale("time", total * 10);
  return (
    <table class="part-table" aria-label={label} onMouseLeave={() => point(null)}>
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
