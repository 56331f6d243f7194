/** The plot of the timeline, with its pointer and keyboard interaction. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Scale } from "../../../base/format";
import type { View } from "../../../base/url_state";
import { canvasPen } from "../../../widgets/chart/pen";
import { useTheme } from "../../../widgets/chart/theme_colors";
import { useWidth } from "../../../widgets/chart/use_size";
import { eventKeys } from "../../../widgets/memory_chart/event_keys";
import { EventSlider } from "../../../widgets/memory_chart/event_slider";
import { FactsCard, Line, PeakFlag } from "../../../widgets/memory_chart/marks";
import type { Select } from "../../tool";
import { formatGibibytes } from "../format";
import type { Memory } from "../payload";
import { drawTimeline, STRIP, timelineColors } from "./draw_timeline";
import { eventFacts, splitText } from "./event_facts";
import {
  lastPointBefore,
  type Plan,
  pointAt,
  SHORTEST,
  timeAt,
  topOf,
  type Window,
  wholeView,
  xOf,
  zoomed,
} from "./plan";

export interface TimelineCardProps {
  readonly memory: Memory;
  readonly view: View;
  readonly select: Select;
  readonly isLoading: boolean;
  readonly fileName: string;
}

interface TimelinePlotProps extends TimelineCardProps {
  readonly window: Window & { readonly isZoomed: boolean };
  readonly hidden: ReadonlySet<string>;
  readonly scale: Scale;
}

export const HEIGHT = 330;
const AXIS_LEFT = 56;
const AXIS_RIGHT = 40;
const FLAG = 20;
const AXIS_BOTTOM = 24;
const KEYS = {
  section: "Memory timeline",
  choose: "Break down the memory in use at the event",
  peak: "Break down the peak",
  reset: "Clear the event, then show the whole recording",
};
/** How long a click on a zoomed chart waits for a second click, which shows everything. */
const DOUBLE_CLICK_MS = 250;

export function TimelinePlot(props: TimelinePlotProps) {
  const { memory, select, window, hidden, scale } = props;
  const { timeline } = memory;
  const { from, to, isZoomed } = window;
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(frame);
  const theme = useTheme();
  const [point, setPoint] = useState(-1);
  const clicks = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(clicks.current), []);
  // A new timeline has other points.
  useEffect(() => setPoint(-1), [timeline]);
  const hiddenKey = [...hidden].join(".");
  const plan: Plan = useMemo(
    () => ({
      left: AXIS_LEFT,
      right: Math.max(width - AXIS_RIGHT, AXIS_LEFT + 1),
      top: FLAG + STRIP,
      bottom: HEIGHT - AXIS_BOTTOM,
      from,
      to,
      most: topOf(memory, hidden, { from, to }),
    }),
    [width, from, to, memory, hiddenKey],
  );
  const colors = useMemo(timelineColors, [theme]);
  useLayoutEffect(() => {
    if (!canvas.current || width === 0) return;
    const pen = canvasPen(canvas.current, width, HEIGHT);
    if (pen) drawTimeline(pen, { memory, plan, scale, hidden, colors });
  }, [memory, plan, hiddenKey, colors, width]);

  const choose = (chosen: number) => {
    if (chosen >= 0) select({ at_ps: String(timeline.time[chosen]) });
  };
  const zoom = (next: Window | null) =>
    select({
      from_ps: next === null ? null : String(next.from),
      to_ps: next === null ? null : String(next.to),
    });
  const keys = eventKeys(KEYS, {
    move: (by) => setPoint((before) => beside(before, by)),
    choose: () => choose(point),
    zoomBy: (factor) => {
      const middle = point >= 0 ? timeline.time[point] : (from + to) / 2;
      const next = zoomed(memory, window, factor, middle);
      if (next === null) select(wholeView(memory));
      else zoom(next);
    },
    pan: (share) => {
      const shift = Math.round((to - from) * share);
      const by = Math.max(memory.begin - from, Math.min(shift, memory.end - to));
      if (isZoomed && by !== 0) zoom({ from: from + by, to: to + by });
    },
    peak: () => select({ at_ps: null }),
    reset: () => (point >= 0 ? setPoint(-1) : zoom(null)),
  });

  /** The visible point `by` points further; without a start, counted from the edge. */
  function beside(before: number, by: number): number {
    const last = lastPointBefore(timeline.time, to);
    const first = Math.min(lastPointBefore(timeline.time, from - 1) + 1, last);
    if (last < 0) return -1;
    const start = before < 0 ? (by > 0 ? first - 1 : last + 1) : before;
    return Math.max(first, Math.min(start + by, last));
  }
  const click = (x: number) => {
    const chosen = pointAt(timeline, plan, x);
    clearTimeout(clicks.current);
    clicks.current = setTimeout(() => choose(chosen), isZoomed ? DOUBLE_CLICK_MS : 0);
  };
  const at =
    point >= 0 && point < timeline.length ? xOf(plan, Math.max(timeline.time[point], from)) : -1;
  const span = to - from;
  return (
    <div class="memory-frame" ref={frame} style={{ height: `${HEIGHT}px` }}>
      <canvas ref={canvas} />
      <Instants {...props} plan={plan} />
      <EventSlider
        frame={frame}
        sides={plan}
        top={FLAG}
        label="Memory timeline: event"
        description="Enter breaks down the memory in use at the event"
        least={0}
        most={Math.max(timeline.length - 1, 0)}
        now={point}
        text={point < 0 ? "no event" : factText(props, point, span)}
        keys={keys}
        point={(x) => setPoint(pointAt(timeline, plan, x))}
        leave={() => setPoint(-1)}
        click={click}
        choose={([left, right]) => {
          const start = timeAt(plan, left);
          zoom({ from: start, to: Math.max(timeAt(plan, right), start + SHORTEST) });
        }}
        reset={() => {
          clearTimeout(clicks.current);
          zoom(null);
        }}
      >
        {at >= 0 ? (
          <>
            <Line name="memory-cursor" x={at} top={plan.top} bottom={plan.bottom} />
            <FactsCard facts={eventFacts(memory, point, span)} x={at} width={width}>
              <p class="muted">{splitText(memory, point)}</p>
            </FactsCard>
          </>
        ) : null}
      </EventSlider>
    </div>
  );
}

/** The peak's flag, and a line at the instant of the breakdown, if they are in view. */
function Instants({ memory, select, plan }: TimelinePlotProps & { readonly plan: Plan }) {
  const { peak, peakAt } = memory.allocators[memory.chosen];
  const { at, isPeak } = memory.breakdown;
  const isSeen = (time: number) => time >= plan.from && time <= plan.to;
  return (
    <>
      {isSeen(at) ? (
        <Line
          name="memory-instant"
          x={xOf(plan, at)}
          top={isPeak ? FLAG - 4 : plan.top}
          bottom={plan.bottom}
        />
      ) : null}
      {isSeen(peakAt) ? (
        <PeakFlag
          sides={plan}
          x={xOf(plan, peakAt)}
          size={formatGibibytes(peak)}
          isChosen={isPeak}
          title="Break down the memory in use at the peak (p)"
          choose={() => select({ at_ps: null })}
        />
      ) : null}
    </>
  );
}

function factText({ memory }: TimelinePlotProps, point: number, span: number): string {
  return eventFacts(memory, point, span)
    .map(({ label, value, reason }) => `${label} ${reason === "" ? value : "none"}`)
    .join(", ");
}
