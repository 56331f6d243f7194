/** The memory charts with their legend as a picture file. */
import { columnScale } from "../../../base/format";
import { drawPicture } from "../../../widgets/chart/picture";
import type { Heap } from "../payload";
import { drawHeap } from "./draw_heap";
import { planHeap } from "./heap_plan";
import { PLOT_HEIGHT, SIDES } from "./heap_plot";
import { PURPOSES } from "./purposes";

const RIGHT = 924;

export function drawHeapSvg(heap: Heap): string {
  const plan = planHeap(heap, { ...SIDES, right: RIGHT });
  const scale = columnScale("bytes", Math.max(heap.figures.peak, heap.bars.total));
  return drawPicture({
    title: `Memory of ${heap.program?.title ?? ""}`,
    note: `Top: memory in use. Bottom: address ranges (${scale.unit}), over the events of the heap`,
    width: RIGHT + 12,
    height: PLOT_HEIGHT,
    legend: PURPOSES,
    draw: (pen) => drawHeap(pen, { heap, plan, scale }),
  });
}
