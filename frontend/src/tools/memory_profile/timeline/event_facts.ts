/** The ten things that are known of an event, as the guide has them, and why one is missing. */
import { NOT_MEASURED } from "../../../base/format";
import type { Fact } from "../../../widgets/memory_chart/marks";
import { formatAmount, formatMemoryShare, formatTraceTime } from "../format";
import { inUse, type Memory } from "../payload";

/** Of a point of the timeline, in a window of `span` ps. */
export function eventFacts(
  { timeline, texts, steps }: Memory,
  point: number,
  span: number,
): Fact[] {
  const kind = timeline.kind[point];
  const isFree = kind === 0;
  const name = (of: Int32Array, label: string) => {
    const missing =
      kind < 0
        ? "no event: what was in use when the window begins"
        : isFree
          ? "its allocation was not recorded, or has none"
          : `the recorder wrote no ${label}`;
    return [texts[of[point]] ?? "", missing] as const;
  };
  const amount = (value: number) =>
    [
      Number.isNaN(value) ? "" : formatAmount(value),
      kind < 0 ? "no event" : "the recorder wrote no size",
    ] as const;
  const step = timeline.step[point];
  return [
    fact("timestamp", "Timestamp", [formatTraceTime(timeline.time[point], span), ""]),
    fact("event", "Event", [
      kind < 0 ? "" : isFree ? "deallocation" : "allocation",
      "the window begins here, between two events",
    ]),
    fact("requested_size", "Requested size", amount(timeline.requested[point])),
    fact("allocation_size", "Allocation size", amount(timeline.allocated[point])),
    fact("tf_op", "Op", name(timeline.op, "op")),
    fact("step_id", "Step", [steps.labels[step] ?? "", "outside of all steps"]),
    fact("region_type", "Region type", name(timeline.region, "region type")),
    fact("data_type", "Data type", name(timeline.dtype, "data type")),
    fact("tensor_shape", "Tensor shape", name(timeline.shape, "shape")),
    fact("memory_in_use", "Memory in use", [
      Number.isNaN(inUse(timeline, point)) ? "" : formatAmount(inUse(timeline, point)),
      "the recorder wrote no usage",
    ]),
  ];
}

/** What the memory at a point is split into, in one line. */
export function splitText({ timeline }: Memory, point: number): string {
  const part = (label: string, value: number) =>
    Number.isNaN(value) ? [] : [`${label} ${formatAmount(value)}`];
  const share = timeline.fragmentation[point];
  return [
    ...part("stack", timeline.stack[point]),
    ...part("heap", timeline.heap[point]),
    ...part("free", timeline.free[point]),
    ...(Number.isNaN(share) ? [] : [`fragmentation ${formatMemoryShare(share)}`]),
  ].join(" · ");
}

function fact(id: string, label: string, [value, reason]: readonly [string, string]): Fact {
  return value === ""
    ? { id, label, value: NOT_MEASURED, reason }
    : { id, label, value, reason: "" };
}
