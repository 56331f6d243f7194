/** Facts about an event of the heap, and about an array in it. */
import { formatBytes, formatCount } from "../../../base/format";
import { bytes } from "../../../base/units";
import type { MemoryFact } from "../../../widgets/memory_chart/marks";
import type { Heap } from "../payload";
import { pointOf } from "./heap_plan";

export function heapEventFacts({ timeline, figures }: Heap, event: number): MemoryFact[] {
  const point = pointOf(timeline, event);
  if (point < 0) return [fact("Event", formatCount(event))];
  return [
    fact("Event", `${formatCount(event)} of ${formatCount(figures.events)}`),
    fact("Instruction", timeline.instruction[point]),
    fact("In use", formatBytes(bytes(timeline.inUse[point]))),
    ...(timeline.hasPadding
      ? [fact("Without padding", formatBytes(bytes(timeline.unpadded[point])))]
      : []),
  ];
}

export function barFacts({ bars, figures }: Heap, bar: number): MemoryFact[] {
  const [start, end, all] = [bars.start[bar], bars.end[bar], figures.events].map(formatCount);
  return [
    fact("Instruction", bars.name[bar]),
    fact("Purpose", bars.purpose[bar]),
    fact("Shape", bars.shape[bar]),
    fact("Size", formatBytes(bytes(bars.size[bar]))),
    fact("Offset", `${formatBytes(bytes(bars.offset[bar]))} from the start`),
    fact("In memory", bars.start[bar] < 0 ? "throughout" : `events ${start} to ${end} of ${all}`),
  ];
}

export function heapEventText(heap: Heap, event: number): string {
  return heapEventFacts(heap, event)
    .map(({ label, value }) => `${label} ${value}`)
    .join(", ");
}

function fact(label: string, value: string): MemoryFact {
  return { id: label, label, value, reason: "" };
}
