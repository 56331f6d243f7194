/** Requests call trees. */
import { PayloadError } from "../../../api/errors";
import { checkLength, numbers, record, texts } from "../../../api/json";
import { ask, formatRanges, type PartOf, type SpanPs, within } from "../protocol/api";
import type { CallOrder } from "./call_tree";

export type CallsAnswer = Readonly<ReturnType<typeof parseCalls>>;

export async function fetchCalls(
  of: PartOf,
  span: SpanPs,
  tracks: readonly number[],
  order: CallOrder,
  isByTrack: boolean,
  signal: AbortSignal,
): Promise<CallsAnswer> {
  const json = await ask(
    "timeline_calls",
    of,
    [
      ...within(span),
      ["tracks", formatRanges(tracks)],
      ["order", order],
      ...(isByTrack ? [["by_track", 1] as const] : []),
    ],
    signal,
  );
  return parseCalls(json);
}

/** Throws PayloadError. */
export function parseCalls(json: unknown) {
  const answer = record(json, "the calls");
  const nodes = record(answer.nodes, "the nodes of the calls");
  const named = record(answer.names, "the names of the calls");
  const names = texts(named.text);
  const tracks = Int32Array.from(checkLength(numbers(named.track), names.length));
  const categories = checkLength(texts(named.category), names.length);
  const parent = Int32Array.from(numbers(nodes.parent));
  const column = (value: unknown) => checkLength(numbers(value), parent.length);
  const name = Int32Array.from(column(nodes.name));
  if (parent[0] !== -1) throw new PayloadError("the calls have no root");
  for (let index = 1; index < parent.length; index++) {
    if (!(parent[index] >= 0 && parent[index] < index))
      throw new PayloadError(`node ${index} of the calls comes before its parent`);
    if (!(name[index] >= -1 && name[index] < names.length))
      throw new PayloadError(`node ${index} of the calls has no name`);
  }
  return {
    columns: {
      names: names.map((text, index) => ({
        text,
        category: categories[index],
        isTrack: tracks[index] >= 0,
      })),
      parent,
      name,
      count: column(nodes.count),
      totalPs: column(nodes.total_ps),
      selfPs: column(nodes.self_ps),
      longest: column(nodes.longest),
      longestPs: column(nodes.longest_ps),
      host: new Int32Array(parent.length),
    },
    /** The track ids of names; -1 for names that are not tracks. */
    tracks,
    overlapPs: numbers([answer.overlap_ps])[0] || 0,
  };
}
