/** The two charts over the events of the heap, and what a pointer and keys do on them. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatBytes, formatCount, type Scale } from "../../../base/format";
import { bindKeys, runKey } from "../../../base/keys";
import { watchColors } from "../../../base/theme";
import { bytes } from "../../../base/units";
import { canvasPen } from "../../../widgets/chart/pen";
import { useWidth } from "../../../widgets/chart/use_size";
import type { Select } from "../../tool";
import type { Heap } from "../payload";
import { drawHeap } from "./draw_heap";
import { heapKeys } from "./heap_keys";
import {
  barAt,
  eventAt,
  type HeapPlan,
  planHeap,
  pointOf,
  xOfEvent,
  zoomedEvents,
} from "./heap_plan";

interface HeapPlotProps {
  readonly heap: Heap;
  readonly select: Select;
  readonly scale: Scale;
}

export const PLOT_HEIGHT = 470;
export const SIDES = { left: 56, top: 20, middle: 200, barsTop: 222, bottom: 446 } as const;
const RIGHT = 12;
const LEAST_DRAG = 6;
const CARD_WIDTH = 320;
const GAP = 12;

export function HeapPlot({ heap, select, scale }: HeapPlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(frame);
  const [theme, bump] = useState(0);
  const [place, setPlace] = useState<{ event: number; bar: number } | null>(null);
  const [drag, setDrag] = useState<readonly [number, number] | null>(null);
  useEffect(() => watchColors(() => bump((count) => count + 1)), []);
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
  const keys = heapKeys({
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
  // For the help, any one set will do.
  useEffect(() => bindKeys(keys, true), []);
  const at = (event: PointerEvent | MouseEvent) => {
    const box = frame.current?.getBoundingClientRect();
    return [event.clientX - (box?.left ?? 0), event.clientY - (box?.top ?? 0)] as const;
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    (event.currentTarget as Element).setPointerCapture?.(event.pointerId);
    setDrag([at(event)[0], at(event)[0]]);
  };
  const onPointerMove = (event: PointerEvent) => {
    const [x, y] = at(event);
    if (drag) setDrag([drag[0], x]);
    setPlace({
      event: eventAt(plan, x),
      bar: y >= plan.barsTop ? barAt(heap.bars, plan, x, y) : -1,
    });
  };
  const onPointerUp = () => {
    if (!drag) return;
    setDrag(null);
    const [left, right] = drag.toSorted((a, b) => a - b);
    if (right - left >= LEAST_DRAG) zoom([eventAt(plan, left), eventAt(plan, right) + 1]);
    else choose(eventAt(plan, left));
  };
  return (
    <div class="heap-frame" ref={frame} style={{ height: `${PLOT_HEIGHT}px` }}>
      <canvas ref={canvas} />
      <Marks heap={heap} plan={plan} choose={choose} />
      <div
        class="heap-plot"
        style={{
          left: `${plan.left}px`,
          top: `${plan.top}px`,
          width: `${plan.right - plan.left}px`,
          height: `${plan.bottom - plan.top}px`,
        }}
        role="slider"
        tabIndex={0}
        aria-label="Memory over the events of the heap: event"
        aria-orientation="horizontal"
        aria-valuemin={plan.from}
        aria-valuemax={plan.to - 1}
        aria-valuenow={Math.max(plan.from, Math.min(current, plan.to - 1))}
        aria-valuetext={eventText(heap, current)}
        aria-description="Enter lists what is in memory after the event"
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={() => setDrag(null)}
        onPointerLeave={() => {
          if (!drag) setPlace(null);
        }}
        onBlur={() => setPlace(null)}
        onDblClick={() => zoom([0, events])}
        onKeyDown={(event) => void runKey(keys, event)}
      />
      {drag && Math.abs(drag[1] - drag[0]) >= LEAST_DRAG ? (
        <div
          class="heap-brush"
          style={{
            left: `${Math.max(plan.left, Math.min(...drag))}px`,
            width: `${Math.min(plan.right, Math.max(...drag)) - Math.max(plan.left, Math.min(...drag))}px`,
            top: `${plan.top}px`,
            height: `${plan.bottom - plan.top}px`,
          }}
        />
      ) : null}
      {place && !drag && (events > 0 || place.bar >= 0) ? (
        <>
          <Line plan={plan} event={place.event} name="heap-cursor" />
          <HoverCard heap={heap} place={place} x={xOfEvent(plan, place.event)} width={width} />
        </>
      ) : null}
      {timeline.length === 0 ? (
        <p class="heap-note muted" style={{ left: `${plan.left}px` }}>
          The compiler planned no heap here: the same is in use throughout.
        </p>
      ) : null}
    </div>
  );
}

function Line({ plan, event, name }: { plan: HeapPlan; event: number; name: string }) {
  // In the middle of what it holds for.
  const x = xOfEvent(plan, event + 0.5);
  return (
    <div
      class={name}
      style={{ left: `${x}px`, top: `${plan.top}px`, height: `${plan.bottom - plan.top}px` }}
    />
  );
}

/** The peak's flag, and the event whose memory is listed below. */
function Marks(props: { heap: Heap; plan: HeapPlan; choose: (event: number) => void }) {
  const { heap, plan, choose } = props;
  const { peakEvent } = heap.figures;
  const isIn = (event: number) => event >= plan.from && event < plan.to;
  const x = xOfEvent(plan, peakEvent + 0.5);
  const isRight = x > (plan.left + plan.right) / 2;
  return (
    <>
      {!heap.live.isAll && isIn(heap.live.event) ? (
        <Line plan={plan} event={heap.live.event} name="heap-instant" />
      ) : null}
      {peakEvent >= 0 && isIn(peakEvent) ? (
        <button
          type="button"
          class={isRight ? "heap-flag left" : "heap-flag"}
          style={isRight ? { right: `calc(100% - ${x}px)` } : { left: `${x}px` }}
          aria-pressed={heap.live.isPeak}
          title="List what is in memory at the peak"
          onClick={() => choose(peakEvent)}
        >
          Peak {formatBytes(bytes(heap.figures.peak))}
        </button>
      ) : null}
    </>
  );
}

interface HoverCardProps {
  readonly heap: Heap;
  readonly place: { readonly event: number; readonly bar: number };
  readonly x: number;
  readonly width: number;
}

function HoverCard({ heap, place, x, width }: HoverCardProps) {
  const right = x + GAP;
  const left = right + CARD_WIDTH <= width ? right : Math.max(x - GAP - CARD_WIDTH, 0);
  const facts = place.bar >= 0 ? barFacts(heap, place.bar) : eventFacts(heap, place.event);
  return (
    <div
      class="step-card heap-card"
      style={{ left: `${left}px`, width: `${CARD_WIDTH}px` }}
      aria-hidden="true"
    >
      <dl>
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value.slice(0, 300)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

type Facts = readonly (readonly [label: string, value: string])[];

function eventFacts({ timeline, figures }: Heap, event: number): Facts {
  const point = pointOf(timeline, event);
  if (point < 0) return [["Event", formatCount(event)]];
  const inUse = timeline.inUse[point];
  return [
    ["Event", `${formatCount(event)} of ${formatCount(figures.events)}`],
    ["Instruction", timeline.instruction[point]],
    ["In use", formatBytes(bytes(inUse))],
    ...(timeline.hasPadding
      ? ([["Without padding", formatBytes(bytes(timeline.unpadded[point]))]] as const)
      : []),
  ];
}

function barFacts({ bars, figures }: Heap, bar: number): Facts {
  const isAlways = bars.start[bar] < 0;
  const events = formatCount(figures.events);
  return [
    ["Instruction", bars.name[bar]],
    ["Purpose", bars.purpose[bar]],
    ["Shape", bars.shape[bar]],
    ["Size", formatBytes(bytes(bars.size[bar]))],
    ["Place", `${formatBytes(bytes(bars.offset[bar]))} from the start`],
    [
      "In memory",
      isAlways
        ? "throughout"
        : `events ${formatCount(bars.start[bar])} to ${formatCount(bars.end[bar])} of ${events}`,
    ],
  ];
}

function eventText(heap: Heap, event: number): string {
  return eventFacts(heap, event)
    .map(([label, value]) => `${label} ${value}`)
    .join(", ");
}
