/** The plotting area of a memory chart: it follows the pointer and keys; a drag chooses a range. */
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Binding, bindKeys, runKey } from "../../base/keys";
import { Brush, type DraggedRange, draggedRange, type PlotSides } from "./marks";

/** Positions are CSS pixels of the frame. */
interface EventSliderProps {
  readonly frame: RefObject<HTMLElement | null>;
  readonly sides: PlotSides;
  /** The upper edge of what follows the pointer. */
  readonly top: number;
  readonly label: string;
  readonly description: string;
  readonly least: number;
  readonly most: number;
  readonly now: number;
  readonly text: string;
  readonly keys: readonly Binding[];
  readonly point: (x: number, y: number) => void;
  readonly leave: () => void;
  readonly click: (x: number) => void;
  readonly choose: (range: DraggedRange) => void;
  /** After a double click. */
  readonly reset: () => void;
  /** What is shown of the event, unless a range is being dragged. */
  readonly children: ComponentChildren;
}

export function EventSlider(props: EventSliderProps) {
  const { frame, sides, top, keys, now, least, leave } = props;
  const [drag, setDrag] = useState<DraggedRange | null>(null);
  // Registered for the help only, so any set of these bindings will do.
  useEffect(() => bindKeys(keys, true), []);
  const place = (event: PointerEvent) => {
    const box = frame.current?.getBoundingClientRect();
    return [event.clientX - (box?.left ?? 0), event.clientY - (box?.top ?? 0)] as const;
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    (event.currentTarget as Element).setPointerCapture?.(event.pointerId);
    const [x] = place(event);
    setDrag([x, x]);
  };
  const onPointerMove = (event: PointerEvent) => {
    const [x, y] = place(event);
    if (drag) setDrag([drag[0], x]);
    props.point(x, y);
  };
  const onPointerUp = () => {
    if (!drag) return;
    setDrag(null);
    const range = draggedRange(drag);
    if (range) props.choose(range);
    else props.click(drag[0]);
  };
  return (
    <>
      <div
        class="memory-plot"
        style={{
          left: `${sides.left}px`,
          top: `${top}px`,
          width: `${sides.right - sides.left}px`,
          height: `${sides.bottom - top}px`,
        }}
        role="slider"
        tabIndex={0}
        aria-label={props.label}
        aria-orientation="horizontal"
        aria-valuemin={least}
        aria-valuemax={props.most}
        aria-valuenow={Math.max(now, least)}
        aria-valuetext={props.text}
        aria-description={props.description}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={() => setDrag(null)}
        onPointerLeave={() => {
          if (!drag) leave();
        }}
        onBlur={leave}
        onDblClick={props.reset}
        onKeyDown={(event) => void runKey(keys, event)}
      />
      {drag ? <Brush sides={sides} drag={drag} /> : props.children}
    </>
  );
}
