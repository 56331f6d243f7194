/** The two charts over the heap's events, with their pointer and keyboard interaction. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatBytes, type Scale } from "../../../base/format";
import { bytes } from "../../../base/units";
import { canvasPen } from "../../../widgets/chart/pen";
import { useTheme } from "../../../widgets/chart/theme_colors";
import { useWidth } from "../../../widgets/chart/use_size";
import { eventKeys } from "../../../widgets/memory_chart/event_keys";
import { EventSlider } from "../../../widgets/memory_chart/event_slider";
import { FactsCard, Line, PeakFlag } from "../../../widgets/memory_chart/marks";
import type { Select } from "../../tool";
import type { Heap } from "../payload";
import { drawHeap } from "./draw_heap";
import { barFacts, heapEventFacts, heapEventText } from "./heap_facts";
import { barAt, eventAt, type HeapPlan, planHeap, xOfEvent, zoomedEvents } from "./heap_plan";

interface HeapPlotProps {
  readonly heap: Heap;
  readonly select: Select;
  readonly scale: Scale;
}

export const PLOT_HEIGHT = 470;
export const SIDES = { left: 56, top: 20, middle: 200, barsTop: 222, bottom: 446 } as const;
const RIGHT = 12;
const KEYS = {
  section: "Program memory",
  choose: "List the memory content after the event",
  peak: "List the memory content at the peak",
  reset: "Clear the event, then show all events",
};

export function HeapPlot({ heap, select, scale }: HeapPlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(frame);
  const theme = useTheme();
  const [place, setPlace] = useState<{ event: number; bar: number } | null>(null);
  useEffect(() => setPlace(null), [heap]);
  const { timeline, figures } = heap;
  const plan = useMemo(
    () => planHeap(heap, { ...SIDES, right: Math.max(width - RIGHT, SIDES.left + 1) }),
    [heap, width],
  );
  useLayoutEffect(() => {
    if (!canvas.current || width === 0) return;
    const pen = canvasPen(canvas.current, width, PLOT_HEIGHT);
    if (pen) drawHeap(pen, { heap, plan, scale });
  }, [heap, plan, theme, width]);

  const { events } = figures;
  const choose = (event: number) => {
    if (events > 0) select({ instant: event === figures.peakEvent ? null : String(event) });
  };
  const zoom = ([from, to]: readonly [number, number]) =>
    select(
      from <= 0 && to >= events
        ? { from_event: null, to_event: null }
        : { from_event: String(from), to_event: String(to) },
    );
  const current = place?.event ?? heap.live.event;
  const keys = eventKeys(KEYS, {
    move: (by) =>
      setPlace({
        event: Math.max(plan.from, Math.min(current + by, plan.to - 1)),
        bar: -1,
      }),
    choose: () => choose(current),
    zoomBy: (factor) => zoom(zoomedEvents(plan, events, factor, current)),
    peak: () => choose(figures.peakEvent),
    reset: () => (place ? setPlace(null) : zoom([0, events])),
  });
  return (
    <div class="memory-frame" ref={frame} style={{ height: `${PLOT_HEIGHT}px` }}>
      <canvas ref={canvas} />
      <Marks heap={heap} plan={plan} choose={choose} />
      <EventSlider
        frame={frame}
        sides={plan}
        top={plan.top}
        label="Memory over the events of the heap: event"
        description="Enter lists the memory content after the event"
        least={plan.from}
        most={plan.to - 1}
        now={Math.min(current, plan.to - 1)}
        text={heapEventText(heap, current)}
        keys={keys}
        point={(x, y) =>
          setPlace({
            event: eventAt(plan, x),
            bar: y >= plan.barsTop ? barAt(heap.bars, plan, x, y) : -1,
          })
        }
        leave={() => setPlace(null)}
        click={(x) => choose(eventAt(plan, x))}
        choose={([left, right]) => zoom([eventAt(plan, left), eventAt(plan, right) + 1])}
        reset={() => zoom([0, events])}
      >
        {place && (events > 0 || place.bar >= 0) ? (
          <>
            <Line
              name="memory-cursor"
              x={middleOf(plan, place.event)}
              top={plan.top}
              bottom={plan.bottom}
            />
            <FactsCard
              facts={place.bar >= 0 ? barFacts(heap, place.bar) : heapEventFacts(heap, place.event)}
              x={xOfEvent(plan, place.event)}
              width={width}
            />
          </>
        ) : null}
      </EventSlider>
      {timeline.length === 0 ? (
        <p class="heap-note muted" style={{ left: `${plan.left}px` }}>
          The compiler planned no heap for this memory: its content does not change.
        </p>
      ) : null}
    </div>
  );
}

/** The line of an event is in the middle of its column. */
function middleOf(plan: HeapPlan, event: number): number {
  return xOfEvent(plan, event + 0.5);
}

/** The peak's flag, and a line at the event whose memory is listed below. */
function Marks(props: { heap: Heap; plan: HeapPlan; choose: (event: number) => void }) {
  const { heap, plan, choose } = props;
  const { peakEvent } = heap.figures;
  const isIn = (event: number) => event >= plan.from && event < plan.to;
  return (
    <>
      {!heap.live.isAll && isIn(heap.live.event) ? (
        <Line
          name="memory-instant"
          x={middleOf(plan, heap.live.event)}
          top={plan.top}
          bottom={plan.bottom}
        />
      ) : null}
      {peakEvent >= 0 && isIn(peakEvent) ? (
        <PeakFlag
          sides={plan}
          x={middleOf(plan, peakEvent)}
          size={formatBytes(bytes(heap.figures.peak))}
          isChosen={heap.live.isPeak}
          title="List the memory content at the peak (p)"
          choose={() => choose(peakEvent)}
        />
      ) : null}
    </>
  );
}
