/** The card of the memory timeline: heading, chart or table, and legend. */
import { useState } from "preact/hooks";
import { formatCount } from "../../../base/format";
import type { View } from "../../../base/url_state";
import { ChartMenu } from "../../../widgets/chart/chart_menu";
import { SmallButton } from "../../../widgets/controls/buttons";
import { Card } from "../../../widgets/text/card";
import type { Select } from "../../tool";
import { memoryScale, traceTimeScale } from "../format";
import type { Memory } from "../payload";
import {
  CAPACITY,
  defaultWindow,
  FRAGMENTATION,
  MEMORY_PARTS,
  topOf,
  wholeView,
  windowOf,
} from "./plan";
import { HEIGHT, type TimelineCardProps, TimelinePlot } from "./timeline_plot";
import { saveTimelineCsv, TimelineTable } from "./timeline_table";

export function TimelineCard(props: TimelineCardProps) {
  const { memory, view, select, isLoading, fileName } = props;
  const [isTable, setTable] = useState(false);
  const window = windowOf(memory, view);
  const hidden = hiddenParts(view, memory);
  const scale = memoryScale(topOf(memory, hidden, window));
  const timeUnit = traceTimeScale(window.to).unit;
  const title = `Memory timeline of ${memory.allocators[memory.chosen].label}`;
  const file = `${fileName}_timeline`;
  const picture = async () => {
    const { drawMemorySvg } = await import("./timeline_picture");
    return drawMemorySvg(title, memory, window, hidden);
  };
  return (
    <Card
      class="snug memory-timeline"
      title="Memory timeline"
      isBusy={isLoading}
      why={{
        formula:
          "Memory after each event, as reported by the allocator: reserved for the stack, allocated from the heap, and free. Values hold until the next event. Fragmentation is 1 − largest free chunk ÷ all free memory.",
        unit: `${scale.unit} on the left, percent on the right, ${timeUnit} since the start of the trace`,
        source: "Memory allocation and deallocation events on the host's threads.",
      }}
      head={
        <>
          <span class="memory-drawn muted" role="status">
            {drawnText(memory)}
          </span>
          <span class="space" />
          {window.isZoomed ? (
            <SmallButton onClick={() => select(wholeView(memory))}>Whole recording</SmallButton>
          ) : defaultWindow(memory).isZoomed ? (
            <SmallButton onClick={() => select({ from_ps: null, to_ps: null })}>
              {memory.steps.labels.length > 0 ? "Steps and peak" : "From the first event"}
            </SmallButton>
          ) : null}
          <ChartMenu
            title="Memory timeline"
            isTable={isTable}
            setTable={setTable}
            fileName={file}
            saveCsv={() => saveTimelineCsv(file, memory)}
            picture={picture}
          />
        </>
      }
    >
      {isTable ? (
        <TimelineTable memory={memory} height={HEIGHT + 44} />
      ) : (
        <>
          <div class="memory-axis-titles step-axis-title muted">
            <span>Memory ({scale.unit})</span>
            {hidden.has(FRAGMENTATION.id) ? null : <span>Fragmentation (%)</span>}
          </div>
          <TimelinePlot {...props} window={window} hidden={hidden} scale={scale} />
          <div class="memory-below">
            <Legend memory={memory} hidden={hidden} select={select} />
            <span class="step-axis-title muted">
              Time since the start of the trace ({timeUnit})
            </span>
          </div>
        </>
      )}
    </Card>
  );
}

function Legend({
  memory,
  hidden,
  select,
}: {
  readonly memory: Memory;
  readonly hidden: ReadonlySet<string>;
  readonly select: Select;
}) {
  const toggle = (id: string) => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    const text = (ids: ReadonlySet<string>) => [...ids].sort().join(".");
    const isDefault = text(next) === text(hiddenParts({}, memory));
    select({ hide: isDefault ? null : text(next) || NOTHING });
  };
  return (
    <ul class="plain step-legend" aria-label="Parts, from the top of the stack">
      {[CAPACITY, ...MEMORY_PARTS.toReversed(), FRAGMENTATION].map(({ id, label, color }) => {
        const isHidden = hidden.has(id);
        const isRecorded =
          id === CAPACITY.id
            ? memory.allocators[memory.chosen].capacity > 0
            : memory.timeline.length === 0 ||
              memory.timeline[id as "heap"].some((value) => !Number.isNaN(value));
        return (
          <li key={id}>
            <button
              type="button"
              aria-pressed={!isHidden}
              aria-label={label}
              title={
                isRecorded
                  ? `${isHidden ? "Show" : "Hide"} “${label}”`
                  : `${label} was not recorded`
              }
              onClick={() => toggle(id)}
            >
              <span
                class={LINES.has(id) ? "swatch memory-line" : "swatch"}
                style={{ background: isHidden ? "transparent" : color }}
              />
              {label}
              {isRecorded ? "" : " (not recorded)"}
            </button>
          </li>
        );
      })}
    </ul>
  );
}

const LINES: ReadonlySet<string> = new Set([CAPACITY.id, FRAGMENTATION.id]);
const FREE = "free";
/** The value in the address if everything is drawn, where the default hides something. */
const NOTHING = "nothing";
/** If the peak is below this share of the capacity, the capacity is hidden by default. */
const LITTLE = 0.6;

/** The ids of hidden parts; by default free memory, and the capacity if it is far above the peak. */
function hiddenParts(view: View, memory: Memory): ReadonlySet<string> {
  if (view.hide !== undefined)
    return new Set(view.hide.split(".").filter((id) => id !== "" && id !== NOTHING));
  const { peak, capacity } = memory.allocators[memory.chosen];
  return new Set(peak >= LITTLE * capacity ? [FREE] : [FREE, CAPACITY.id]);
}

function drawnText({ timeline }: Memory): string {
  if (Number.isNaN(timeline.events)) return "";
  const count = formatCount(timeline.events);
  return timeline.isSampled
    ? `${count} events, drawn as ${formatCount(timeline.length)} points that preserve all extremes; drag to zoom`
    : `${count} events`;
}
