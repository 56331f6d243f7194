/** An edge between two panes that can be dragged, or moved with the arrow keys. */
import type { Signal } from "@preact/signals";

interface SplitterProps {
  readonly label: string;
  /** The size of the pane that it resizes, in pixels. */
  readonly size: Signal<number>;
  readonly least: number;
  readonly most: () => number;
  /** The side of the splitter on which the pane is. */
  readonly side: "left" | "bottom";
}

const STEP = 24;

export function Splitter({ label, size, least, most, side }: SplitterProps) {
  const isVertical = side === "left";
  const set = (value: number) => {
    size.value = Math.round(Math.max(least, Math.min(value, most())));
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    event.preventDefault();
    const start = size.peek();
    const from = isVertical ? event.clientX : event.clientY;
    const onMove = (moved: PointerEvent) =>
      set(start + (isVertical ? moved.clientX - from : from - moved.clientY));
    const end = () => {
      removeEventListener("pointermove", onMove);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
    };
    addEventListener("pointermove", onMove);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  };
  const larger = isVertical ? "ArrowRight" : "ArrowUp";
  const smaller = isVertical ? "ArrowLeft" : "ArrowDown";
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== larger && event.key !== smaller) return;
    event.preventDefault();
    set(size.peek() + (event.key === larger ? STEP : -STEP));
  };
  return (
    <div
      class={isVertical ? "trace-splitter vertical" : "trace-splitter"}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={isVertical ? "vertical" : "horizontal"}
      aria-valuenow={size.value}
      aria-valuemin={least}
      aria-valuemax={most()}
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
    />
  );
}
