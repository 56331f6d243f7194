/** The summary sentences of the roofline page. */
import { type DataTable, numbers, type Row, textAt, texts } from "../../api/data_table";
import { formatRatio, NOT_MEASURED } from "../../base/format";
import { ratio } from "../../base/units";
import { formatBandwidth, formatRate } from "./rates";

/** The smallest share that is mentioned. */
const LITTLE = 0.0005;

/** The used shares of the peaks, what bounds most of the time, and what is unknown. */
export function summarize(
  table: DataTable,
  whole: Row,
  hasPeaks: boolean,
  plural: string,
): string[] {
  const sentences: string[] = [];
  const work = [
    ...rate("computes", formatRate(whole.number("measured_flop_rate"), "FLOP/s")),
    ...rate("moves", formatBandwidth(whole.number("hbm_bw"))),
  ];
  const shares = [
    ...share(whole.number("compute_efficiency"), "of its compute peak"),
    ...share(whole.number("max_mem_bw_utilization"), "of its peak memory bandwidth"),
  ];
  if (work.length > 0) {
    const of = shares.length > 0 ? `: ${shares.join(", and ")}` : "";
    sentences.push(`On average, a device ${work.join(" and ")}, including idle time${of}.`);
  }
  if (!hasPeaks) {
    sentences.push(
      "The trace does not contain the peaks of this device, so its limits are unknown.",
    );
    return sentences;
  }
  const bounds = boundShares(table);
  const known = bounds.filter((bound) => bound.name !== "Unknown" && bound.share >= LITTLE);
  if (known.length > 0) {
    const parts = known.map(
      (bound, index) =>
        `${formatRatio(ratio(bound.share))} ${index === 0 ? "is bound by" : "by"} ${boundName(bound.name)}`,
    );
    sentences.push(`Of the ${plural}’ time, ${parts.join(", ")}.`);
  }
  const unknown = bounds.find(({ name }) => name === "Unknown")?.share ?? 0;
  if (unknown >= LITTLE)
    sentences.push(
      `For ${formatRatio(ratio(unknown))} of it the bound is unknown, since the cost of those ${plural} is zero or unknown.`,
    );
  return sentences;
}

function rate(verb: string, text: string): string[] {
  return text === NOT_MEASURED ? [] : [`${verb} ${text}`];
}

function share(value: number, of: string): string[] {
  return Number.isFinite(value) ? [`${formatRatio(ratio(value))} ${of}`] : [];
}

/** The time of ops by what bounds it, the largest part first. */
function boundShares(table: DataTable): { readonly name: string; readonly share: number }[] {
  const bounds = texts(table, "bound_by");
  const own = numbers(table, "total_self_time");
  const times = new Map<string, number>();
  let total = 0;
  own?.forEach((time, row) => {
    if (!(time > 0)) return;
    const name = textAt(bounds, row);
    times.set(name, (times.get(name) ?? 0) + time);
    total += time;
  });
  return [...times]
    .map(([name, time]) => ({ name, share: time / total }))
    .sort((one, other) => other.share - one.share);
}

const SPELLED: Readonly<Record<string, string>> = {
  Compute: "compute",
  "Host link": "the host link",
  Interconnect: "the interconnect",
};

/** The name of a bound within a sentence. */
function boundName(name: string): string {
  return SPELLED[name] ?? name;
}
