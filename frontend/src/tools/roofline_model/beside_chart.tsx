/** The column beside the roofline: legend, rows that cannot be drawn, and peaks with their sources. */
import { type DataTable, numbers, textAt, texts } from "../../api/data_table";
import { formatRatio, formatTime, plural } from "../../base/format";
import { microseconds, ratio } from "../../base/units";
import { LinkButton } from "../../widgets/controls/buttons";
import { markPath } from "../../widgets/scatter/draw_scatter";
import type { PointKind } from "../../widgets/scatter/points";
import { Name } from "../../widgets/text/name";
import type { RooflinePeak } from "./payload";
import { formatRate } from "./rates";
import type { Absent } from "./roofline_points";

const REASONS: Readonly<Record<Absent["reason"], string>> = {
  unknown: "no known cost",
  still: "they only move data",
  elsewhere: "their memory traffic is unknown",
};
const MOST = 4;

export function KindLegend({ kinds }: { kinds: readonly PointKind[] }) {
  return (
    <ul class="plain roofline-legend">
      {kinds.map(({ label, color }, kind) => (
        <li key={label}>
          <svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">
            <path d={markPath(kind, 5.5)} style={{ fill: color, stroke: "var(--text)" }} />
          </svg>
          <Name text={label} />
        </li>
      ))}
    </ul>
  );
}

interface NotDrawnProps {
  readonly table: DataTable;
  readonly absent: readonly Absent[];
  readonly noun: string;
  readonly open: (row: number) => void;
}

/** Rows that have no place on the axes: their number, their time, and the longest of them. */
export function NotDrawn({ table, absent, noun, open }: NotDrawnProps) {
  const names = texts(table, "operation");
  const own = numbers(table, "total_self_time");
  const notes = texts(table, "cost_note");
  return (
    <>
      {absent.map(({ reason, rows, share }) => (
        <section class="roofline-absent" key={reason}>
          <h3>
            Not drawn: {plural(rows.length, noun)}, {formatRatio(ratio(share))} of the time
          </h3>
          <p class="muted">Why: {REASONS[reason]}.</p>
          <ul class="plain">
            {[...rows.subarray(0, MOST)].map((row) => (
              <li key={row}>
                <LinkButton title={textAt(notes, row) || undefined} onClick={() => open(row)}>
                  <Name text={textAt(names, row)} />
                </LinkButton>
                <span>{formatTime(microseconds(own?.[row] ?? 0))}</span>
              </li>
            ))}
          </ul>
          {rows.length > MOST ? (
            <p class="muted">and {plural(rows.length - MOST, "more", "more")}, in the table</p>
          ) : null}
        </section>
      ))}
    </>
  );
}

export function Peaks({
  peaks,
  deviceName,
}: {
  peaks: readonly RooflinePeak[];
  deviceName: string;
}) {
  if (peaks.length === 0) return null;
  return (
    <details class="roofline-peaks">
      <summary>Peaks of {deviceName || "a device"} and their sources</summary>
      <table>
        <tbody>
          {peaks.map(({ kind, name, peak, source }) => (
            <tr key={`${kind} ${name}`}>
              <th scope="row">{name}</th>
              <td>{formatRate(peak, kind === "compute" ? "FLOP/s" : "B/s")}</td>
              <td class="muted">{source}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
