/** The ten facts about a memory event, in the guide's order, with reasons for missing ones. */
import { NOT_MEASURED } from "../../../base/format";
import type { MemoryFact } from "../../../widgets/memory_chart/marks";
import { formatAmount, formatMemoryShare, formatTraceTime } from "../format";
import { inUse, type Memory } from "../payload";

/** The facts about a point of the timeline, in a window of `span` ps. */
export function eventFacts(
  { timeline, texts, steps }: Memory,
  point: number,
  span: number,
): MemoryFact[] {
  const kind = timeline.kind[point];
  const isFree = kind === 0;
  const name = (of: Int32Array, label: string) => {
    const missing =
      kind < 0
        ? "no event: the memory in use at the start of the window"
        : isFree
          ? `its allocation was not recorded, or has no ${label}`
          : `${label} not recorded`;
    return [texts[of[point]] ?? "", missing] as const;
  };
  const amount = (value: number) =>
    [
      Number.isNaN(value) ? "" : formatAmount(value),
      kind < 0 ? "no event" : "size not recorded",
    ] as const;
  const step = timeline.step[point];
  return [
    fact("timestamp", "Timestamp", [formatTraceTime(timeline.time[point], span), ""]),
    fact("event", "Event", [
      kind < 0 ? "" : isFree ? "deallocation" : "allocation",
      "start of the window, between two events",
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
      "usage not recorded",
    ]),
  ];
}

/** The parts of the memory at a point, in one line. */
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

function fact(id: string, label: string, [value, reason]: readonly [string, string]): MemoryFact {
  return value === ""
    ? { id, label, value: NOT_MEASURED, reason }
    : { id, label, value, reason: "" };
}
