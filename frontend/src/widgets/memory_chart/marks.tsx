/** Overlays of a memory chart: the range being dragged, the peak's flag, and the fact card. */
import type { ComponentChildren } from "preact";
import "./memory_chart.css";

/** The edges of the plotting area in CSS pixels of the frame. */
export interface PlotSides {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Shorter drags count as clicks, in CSS pixels. */
const LEAST_DRAG = 6;

export type DraggedRange = readonly [from: number, to: number];

/** The ends of a drag, left first; null for a click. */
export function draggedRange(drag: DraggedRange): DraggedRange | null {
  const [left, right] = drag[0] < drag[1] ? drag : [drag[1], drag[0]];
  return right - left >= LEAST_DRAG ? [left, right] : null;
}

export function Brush({ sides, drag }: { readonly sides: PlotSides; readonly drag: DraggedRange }) {
  const range = draggedRange(drag);
  if (!range) return null;
  const [left, right] = range.map((x) => Math.max(sides.left, Math.min(x, sides.right)));
  return (
    <div
      class="memory-brush"
      style={{
        left: `${left}px`,
        width: `${right - left}px`,
        top: `${sides.top}px`,
        height: `${sides.bottom - sides.top}px`,
      }}
    />
  );
}

interface LineProps {
  readonly name: "memory-cursor" | "memory-instant";
  readonly x: number;
  readonly top: number;
  readonly bottom: number;
}

export function Line({ name, x, top, bottom }: LineProps) {
  return (
    <div class={name} style={{ left: `${x}px`, top: `${top}px`, height: `${bottom - top}px` }} />
  );
}

interface PeakFlagProps {
  readonly sides: PlotSides;
  readonly x: number;
  /** "4.00 GiB" */
  readonly size: string;
  /** Whether the breakdown below the chart shows the peak. */
  readonly isChosen: boolean;
  readonly title: string;
  readonly choose: () => void;
}

export function PeakFlag({ sides, x, size, isChosen, title, choose }: PeakFlagProps) {
  const isRight = x < (sides.left + sides.right) / 2;
  return (
    <button
      type="button"
      class={isRight ? "memory-flag" : "memory-flag left"}
      style={isRight ? { left: `${x}px` } : { right: `calc(100% - ${x}px)` }}
      aria-pressed={isChosen}
      title={title}
      onClick={choose}
    >
      <span aria-hidden="true">⚑</span> Peak {size}
    </button>
  );
}

export interface MemoryFact {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  /** Why there is no value; "" if there is one. */
  readonly reason: string;
}

interface FactsCardProps {
  readonly facts: readonly MemoryFact[];
  /** The position of the cursor, and the width of the chart. */
  readonly x: number;
  readonly width: number;
  readonly children?: ComponentChildren;
}

const CARD_WIDTH = 340;
const GAP = 12;

/** A card beside the cursor with facts about what is under it. */
export function FactsCard({ facts, x, width, children }: FactsCardProps) {
  const right = x + GAP;
  const left = right + CARD_WIDTH <= width ? right : Math.max(x - GAP - CARD_WIDTH, 0);
  return (
    <div
      class="step-card memory-card"
      style={{ left: `${left}px`, width: `${CARD_WIDTH}px` }}
      aria-hidden="true"
    >
      <dl>
        {facts.map(({ id, label, value, reason }) => (
          <div key={id} data-fact={id}>
            <dt>{label}</dt>
            <dd class={reason ? "muted" : ""}>
              {value.slice(0, 300)}
              {reason ? ` (${reason})` : ""}
            </dd>
          </div>
        ))}
      </dl>
      {children}
    </div>
  );
}
