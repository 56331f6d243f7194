/** The card of one point of the roofline. */
import { type DataTable, numbers, textAt, texts } from "../../api/data_table";
import { formatRatio, formatTime, NOT_MEASURED, significant } from "../../base/format";
import { microseconds, ratio } from "../../base/units";
import { PROGRAM } from "../programs/program_column";
import { formatBandwidth, formatRate } from "./rates";

interface PointCardProps {
  readonly table: DataTable;
  readonly row: number;
}

export function PointCard({ table, row }: PointCardProps) {
  const text = (id: string) => textAt(texts(table, id), row);
  return (
    <>
      <code class="name">{text("operation")}</code>
      <dl>
        {facts(table, row).map(([label, value]) => (
          <div class="scatter-fact" key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {text("roof_note") === "" ? null : <p class="muted">{text("roof_note")}.</p>}
      <p class="muted">Clicking opens its row in the table.</p>
    </>
  );
}

/** The same as a sentence, for screen readers. */
export function pointText(table: DataTable, row: number): string {
  const name = textAt(texts(table, "operation"), row);
  return [name, ...facts(table, row).map(([label, value]) => `${label} ${value}`)].join(", ");
}

function facts(table: DataTable, row: number): (readonly [string, string])[] {
  const text = (id: string) => textAt(texts(table, id), row);
  const number = (id: string) => numbers(table, id)?.[row] ?? Number.NaN;
  const share = (value: number) =>
    Number.isFinite(value) ? ` (${formatRatio(ratio(value))} of its peak)` : "";
  const own = number("total_self_time_percent");
  const intensity = number("hbm_operational_intensity");
  const all: readonly (readonly [string, string])[] = [
    ["Program", text(PROGRAM)],
    ["Category", text("category")],
    [
      "Self time",
      `${formatTime(microseconds(number("total_self_time")))} (${formatRatio(ratio(own))})`,
    ],
    [
      "Computes",
      `${formatRate(number("measured_flop_rate"), "FLOP/s")}${share(number("compute_efficiency"))}`,
    ],
    ["Moves", `${formatBandwidth(number("hbm_bw"))}${share(number("max_mem_bw_utilization"))}`],
    ["Intensity", Number.isFinite(intensity) ? `${significant(intensity)} FLOP/B` : NOT_MEASURED],
    ["Bound by", text("bound_by")],
    ["Type", text("dtype")],
  ];
  return all.filter(([, value]) => value !== "");
}
