/** The scroll bar of the lanes, drawn and dragged without triggering a layout. */
import { useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { lastScrollTop } from "../model/lanes/lane_layout";
import type { TimelineModel } from "../model/model";

const LEAST_THUMB = 24;

export function ScrollBar({ model }: { model: TimelineModel }) {
  const bar = useRef<HTMLDivElement>(null);
  const thumb = useRef<HTMLDivElement>(null);
  const grip = useRef<{ readonly y: number; readonly top: number } | null>(null);

  useSignalEffect(() => {
    const { room, most, size, top } = geometry(model, true);
    if (!bar.current || !thumb.current) return;
    bar.current.hidden = most <= 0;
    bar.current.style.top = `calc(24px + ${room.top}px)`;
    thumb.current.style.height = `${size}px`;
    thumb.current.style.transform = `translateY(${top}px)`;
    bar.current.setAttribute("aria-valuenow", String(Math.round(model.scrollTop.peek())));
    bar.current.setAttribute("aria-valuemax", String(Math.round(most)));
  });

  const moveTo = (top: number) => {
    const { most } = geometry(model, false);
    model.scrollTop.value = Math.max(0, Math.min(top, most));
  };
  return (
    <div
      ref={bar}
      class="timeline-scroll"
      role="scrollbar"
      aria-label="Scroll the tracks"
      aria-controls="trace-timeline"
      aria-orientation="vertical"
      aria-valuemin={0}
      aria-valuenow={0}
      tabIndex={-1}
      onPointerDown={(event) => {
        event.stopPropagation();
        const { most, room, size, top } = geometry(model, false);
        const y = event.offsetY;
        const isThumb = event.target === thumb.current;
        // A press outside the thumb moves it there.
        if (!isThumb) moveTo(((y - size / 2) / Math.max(room.height - size, 1)) * most);
        grip.current = { y: event.clientY, top: isThumb ? top : geometry(model, false).top };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (!grip.current) return;
        const { most, room, size } = geometry(model, false);
        const at = grip.current.top + event.clientY - grip.current.y;
        moveTo((at / Math.max(room.height - size, 1)) * most);
      }}
      onPointerUp={() => {
        grip.current = null;
      }}
      onPointerCancel={() => {
        grip.current = null;
      }}
    >
      <div ref={thumb} class="timeline-thumb" />
    </div>
  );
}

/** CSS pixels: the bar's height, the scroll range, and the thumb's height and top. */
function geometry({ lanes, height, scrollTop }: TimelineModel, isWatched: boolean) {
  const list = isWatched ? lanes.value : lanes.peek();
  const all = isWatched ? height.value : height.peek();
  const at = isWatched ? scrollTop.value : scrollTop.peek();
  const most = lastScrollTop(list, all);
  const room = { top: list.pinnedHeight, height: Math.max(all - list.pinnedHeight, 0) };
  const share = room.height / Math.max(list.scrolledHeight, 1);
  const size = Math.min(Math.max(room.height * share, LEAST_THUMB), room.height);
  const top = most > 0 ? (at / most) * (room.height - size) : 0;
  return { most, room, size, top };
}
