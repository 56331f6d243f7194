/** The timeline: a canvas of rectangles, one of texts above it, a scroll bar, and their keys. */
import { useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { bindKeys } from "../../../base/keys";
import type { PainterChoice } from "../canvas/create_painter";
import { Engine } from "../canvas/engine";
import { AXIS_HEIGHT } from "../canvas/overlay/overlay_input";
import type { TimelineModel } from "../model/model";
import { type Actions, createActions } from "./actions";
import { Gestures } from "./gestures/gestures";
import { HELD_KEYS, timelineKeys } from "./keys";
import { MarkEditor } from "./mark_editor";
import { Motion } from "./motion";
import { ScrollBar } from "./scroll_bar";
import "./timeline_canvas.css";

interface TimelineCanvasProps {
  readonly model: TimelineModel;
  /** "" for the fastest available. */
  readonly renderer?: PainterChoice;
}

export function TimelineCanvas({ model, renderer = "" }: TimelineCanvasProps) {
  const frame = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const [actions, setActions] = useState<Actions | null>(null);

  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    const measure = () => {
      model.width.value = element.clientWidth;
      model.height.value = Math.max(element.clientHeight - AXIS_HEIGHT, 0);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [model]);

  useEffect(() => {
    const element = frame.current;
    if (!element || !base.current || !over.current) return;
    const engine = new Engine(model, base.current, over.current, renderer);
    const center = () => {
      const { from, to } = model.view.peek();
      return engine.pointer ? engine.psAt(engine.pointer.x) : (from + to) / 2;
    };
    const motion = new Motion(model, center);
    const made = createActions({ model, engine, motion, cancelDrag: () => gestures.cancel() });
    const gestures: Gestures = new Gestures(element, model, engine, motion, {
      choose: made.choose,
      fit: made.fitEvent,
      markAt: (x, y) => engine.markAt(x, y),
      editMark: (mark) => {
        made.edited.value = mark;
      },
    });
    const unbind = bindKeys(timelineKeys(made));
    const release = (event: KeyboardEvent) => {
      const direction = HELD_KEYS[event.key.toLowerCase()];
      if (direction) motion.release(direction);
    };
    const releaseAll = () => motion.releaseAll();
    document.addEventListener("keyup", release);
    window.addEventListener("blur", releaseAll);
    const stopWatching = watchRatio(engine.invalidate);
    setActions(made);
    return () => {
      setActions(null);
      unbind();
      document.removeEventListener("keyup", release);
      window.removeEventListener("blur", releaseAll);
      stopWatching();
      gestures.dispose();
      motion.dispose();
      engine.dispose();
      model.hover.value = null;
    };
  }, [model, renderer]);

  // A canvas keeps the type of its first context, so another renderer needs another canvas.
  return (
    <div
      ref={frame}
      id="trace-timeline"
      class="inner-focus timeline-canvas"
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys of the timeline work within
      tabIndex={0}
      aria-label="Timeline"
      aria-roledescription="timeline"
      aria-busy={model.isWaiting}
      aria-description="Arrow keys go from event to event, W and S zoom, A and D move; the list shows the same events as a table"
    >
      <canvas key={`base ${renderer}`} ref={base} class="timeline-base" />
      <canvas ref={over} class="timeline-over" />
      <Spoken model={model} />
      {actions ? (
        <>
          <ScrollBar model={model} />
          <MarkEditor model={model} edited={actions.edited} />
        </>
      ) : null}
    </div>
  );
}

/** Announces the selected event to screen readers. */
function Spoken({ model }: { model: TimelineModel }) {
  const element = useRef<HTMLSpanElement>(null);
  useSignalEffect(() => {
    const place = model.selection.value?.place;
    if (element.current) element.current.textContent = place ? `Selected: ${place.name}` : "";
  });
  return <span ref={element} class="unseen" role="status" />;
}

/** Calls `react` whenever the device pixel ratio changes. */
function watchRatio(react: () => void): () => void {
  let query: MediaQueryList;
  const listen = () => {
    query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    query.addEventListener("change", onChange, { once: true });
  };
  const onChange = () => {
    react();
    listen();
  };
  listen();
  return () => query.removeEventListener("change", onChange);
}
