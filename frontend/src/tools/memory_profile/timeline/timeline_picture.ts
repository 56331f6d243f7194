/** The timeline with its legend as a picture file. */
import { drawPicture } from "../../../widgets/chart/picture";
import { memoryScale, traceTimeScale } from "../format";
import type { Memory } from "../payload";
import { drawTimeline, STRIP, timelineColors } from "./draw_timeline";
import { CAPACITY, FRAGMENTATION, MEMORY_PARTS, type Plan, topOf, type Window } from "./plan";

const AREA = { left: 48, top: STRIP, right: 924, bottom: 308 };

export function drawMemorySvg(
  title: string,
  memory: Memory,
  window: Window,
  hidden: ReadonlySet<string>,
): string {
  const plan: Plan = { ...AREA, ...window, most: topOf(memory, hidden, window) };
  const scale = memoryScale(plan.most);
  return drawPicture({
    title,
    note: `Memory (${scale.unit}), fragmentation (%), time (${traceTimeScale(window.to).unit})`,
    width: AREA.right + 36,
    height: AREA.bottom + 24,
    legend: [CAPACITY, FRAGMENTATION, ...MEMORY_PARTS.toReversed()].filter(
      ({ id }) => !hidden.has(id),
    ),
    draw: (pen) => drawTimeline(pen, { memory, plan, scale, hidden, colors: timelineColors() }),
  });
}
