/** What the roofline says in sentences. */
import { type DataTable, numbers, type Row, textAt, texts } from "../../api/data_table";
import { formatRatio, NOT_MEASURED } from "../../base/format";
import { ratio } from "../../base/units";
import { formatBandwidth, formatRate } from "./rates";

/** Less than this is not worth a word. */
const LITTLE = 0.0005;

/** How much of the peaks is used, what bounds most of the time, and what is not known. */
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
    ...share(whole.number("compute_efficiency"), "of the peaks of the types that it computes in"),
    ...share(whole.number("max_mem_bw_utilization"), "of what its memory can move"),
  ];
  if (work.length > 0) {
    const of = shares.length > 0 ? `: ${shares.join(", and ")}` : "";
    sentences.push(`A device ${work.join(" and ")} on average, idle time included${of}.`);
  }
  if (!hasPeaks) {
    sentences.push("The trace states no peaks for this device, so its limits are unknown.");
    return sentences;
  }
  const bounds = boundShares(table);
  const known = bounds.filter((bound) => bound.name !== "Unknown" && bound.share >= LITTLE);
  if (known.length > 0) {
    const parts = known.map(
      (bound, at) =>
        `${formatRatio(ratio(bound.share))} ${at === 0 ? "is bound by" : "by"} ${boundName(bound.name)}`,
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

/** The ops' time by what bounds it, the most first. */
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

/** "Compute" and "HBM" within a sentence. */
function boundName(name: string): string {
  return name === "Compute" ? "compute" : name;
}
