/** The overview strip: busy shares of devices over the whole trace, and a brush for the view. */
import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { plural } from "../../../base/format";
import { resolveColor, watchColors } from "../../../base/theme";
import { busySections, formatShare } from "../lanes/lane_facts";
import type { TimelineModel } from "../model/model";
import { formatInstant, formatPs } from "../model/time";
import type { Span } from "../model/types";
import { clampView, panBy, zoomAt } from "../model/view/view_math";
import { Breadcrumbs } from "./breadcrumbs";
import { type BusyRow, foldRows, followBusy } from "./busy_rows";

const STRIP_HEIGHT = 40;
const MOST_ROWS = 13;
/** Rows of at least this height show shares by height, lower ones by opacity. */
const TALL = 10;
const LEAST_BRUSH = 6;
const SLACK = 3;

type Grip = "from" | "to" | "whole" | "new";

export function OverviewStrip({ model }: { model: TimelineModel }) {
  const busy = useMemo(() => followBusy(model), [model]);
  useEffect(() => busy.dispose, [busy]);
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const brush = useRef<HTMLDivElement>(null);
  const rows = busy.rows.value;

  useEffect(() => {
    const draw = () => drawRows(canvas.current, foldRows(busy.rows.peek(), MOST_ROWS), model);
    draw();
    const observer = new ResizeObserver(draw);
    if (frame.current) observer.observe(frame.current);
    const stop = watchColors(draw);
    return () => {
      observer.disconnect();
      stop();
    };
  }, [rows, model.extent.value]);

  useSignalEffect(() => {
    const view = model.view.value;
    const extent = model.extent.value;
    const element = brush.current;
    const room = frame.current?.clientWidth ?? 0;
    if (!element) return;
    const [left, right] = [view.from, view.to].map(
      (ps) => clamp01((ps - extent.from) / (extent.to - extent.from)) * room,
    );
    const width = Math.max(right - left, LEAST_BRUSH);
    const x = Math.max(0, Math.min((left + right - width) / 2, room - width));
    element.style.transform = `translateX(${x}px)`;
    element.style.width = `${width}px`;
    element.setAttribute("aria-valuenow", String(Math.round(((x + width / 2) / room) * 100) || 0));
    element.setAttribute("aria-valuetext", describeView(view, extent, model.zero.value));
  });

  const onPointerDown = (event: PointerEvent) => {
    const room = frame.current;
    if (event.button !== 0 || !room) return;
    const { left, width } = room.getBoundingClientRect();
    const psAt = (x: number) => {
      const { from, to } = model.extent.peek();
      return from + clamp01((x - left) / width) * (to - from);
    };
    const start = model.view.peek();
    const grip = gripOf(event.target);
    let hasMoved = false;
    const onMove = (moved: PointerEvent) => {
      if (!hasMoved && Math.abs(moved.clientX - event.clientX) < SLACK) return;
      hasMoved = true;
      model.view.value = dragged(grip, start, psAt(event.clientX), psAt(moved.clientX), model);
    };
    const end = () => {
      removeEventListener("pointermove", onMove);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      if (hasMoved || grip === "from" || grip === "to") return;
      const middle = (start.from + start.to) / 2;
      model.view.value = panBy(start, psAt(event.clientX) - middle, model.extent.peek());
    };
    addEventListener("pointermove", onMove);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
    event.preventDefault();
    brush.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = stepped(event.key, model.view.peek(), model.extent.peek());
    if (!next) return;
    event.preventDefault();
    model.view.value = next;
  };
  return (
    <div class="trace-overview">
      <div class="trace-overview-label">
        <Breadcrumbs model={model} />
        <span class="muted">{rows.length === 0 ? "" : describeRows(rows, model)}</span>
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the brush in it has the keys */}
      <div
        class="trace-strip"
        ref={frame}
        onPointerDown={onPointerDown}
        onPointerMove={(event) => {
          event.currentTarget.title = titleAt(event, foldRows(rows, MOST_ROWS));
        }}
        onDblClick={() => {
          model.view.value = clampView(model.extent.peek(), model.extent.peek());
        }}
      >
        <canvas ref={canvas} role="img" aria-label="Device utilization over the whole trace" />
        <div
          class="inner-focus trace-brush"
          ref={brush}
          role="slider"
          tabIndex={0}
          aria-label="Part of the trace in view"
          aria-description="Arrow keys left and right move, up and down zoom"
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={0}
          onKeyDown={onKeyDown}
        >
          <span class="trace-grip" data-grip="from" />
          <span class="trace-grip" data-grip="to" />
        </div>
      </div>
    </div>
  );
}

/** The view after a drag from `start` to `end` of the strip. */
export function dragged(
  grip: Grip,
  view: Span,
  start: number,
  end: number,
  { extent }: Pick<TimelineModel, "extent">,
): Span {
  const within = extent.peek();
  switch (grip) {
    case "whole":
      return panBy(view, end - start, within);
    case "new":
      return clampView({ from: Math.min(start, end), to: Math.max(start, end) }, within);
    case "from":
    case "to": {
      const fixed = grip === "from" ? view.to : view.from;
      const moved = (grip === "from" ? view.from : view.to) + end - start;
      return clampView({ from: Math.min(fixed, moved), to: Math.max(fixed, moved) }, within);
    }
  }
}

/** The view after a key; null for other keys. */
export function stepped(key: string, view: Span, extent: Span): Span | null {
  const width = view.to - view.from;
  const middle = (view.from + view.to) / 2;
  switch (key) {
    case "ArrowLeft":
      return panBy(view, -width / 8, extent);
    case "ArrowRight":
      return panBy(view, width / 8, extent);
    case "PageUp":
      return panBy(view, -width, extent);
    case "PageDown":
      return panBy(view, width, extent);
    case "Home":
      return panBy(view, extent.from - view.from, extent);
    case "End":
      return panBy(view, extent.to - view.to, extent);
    case "ArrowUp":
      return zoomAt(view, middle, 0.8, extent);
    case "ArrowDown":
      return zoomAt(view, middle, 1.25, extent);
    default:
      return null;
  }
}

function gripOf(target: EventTarget | null): Grip {
  if (!(target instanceof HTMLElement)) return "new";
  const { grip } = target.dataset;
  if (grip === "from" || grip === "to") return grip;
  return target.classList.contains("trace-brush") ? "whole" : "new";
}

function drawRows(
  canvas: HTMLCanvasElement | null,
  rows: readonly BusyRow[],
  model: TimelineModel,
): void {
  const context = canvas?.getContext("2d");
  if (!canvas || !context) return;
  const scale = devicePixelRatio || 1;
  const width = canvas.parentElement?.clientWidth ?? 0;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(STRIP_HEIGHT * scale);
  if (rows.length === 0 || width === 0) return;
  context.scale(scale, scale);
  const color = resolveColor("var(--c-compute)");
  const line = resolveColor("var(--border)");
  const extent = model.extent.peek();
  const toX = (ps: number) => ((ps - extent.from) / (extent.to - extent.from)) * width;
  const height = (STRIP_HEIGHT - 2) / rows.length;
  rows.forEach((row, index) => {
    const top = 1 + index * height;
    const bottom = top + height - (rows.length > 1 ? 1 : 0);
    const [from, to] = [toX(row.from), toX(row.to)];
    context.fillStyle = line;
    context.fillRect(from, bottom - 0.5, to - from, 0.5);
    context.fillStyle = color;
    for (let x = Math.floor(from); x < to; x++) {
      const share = meanShare(row.shares, (x - from) / (to - from), (x + 1 - from) / (to - from));
      if (share <= 0) continue;
      const room = bottom - top;
      context.globalAlpha = height < TALL ? 0.15 + 0.85 * share : 1;
      const tall = height < TALL ? room : Math.max(room * share, 2);
      context.fillRect(x, bottom - tall, 1, tall);
    }
    context.globalAlpha = 1;
  });
}

/** The mean of `shares` between two positions, 0–1. */
function meanShare(shares: Float32Array, from: number, to: number): number {
  const first = Math.max(Math.floor(from * shares.length), 0);
  const last = Math.min(Math.max(Math.ceil(to * shares.length), first + 1), shares.length);
  let sum = 0;
  for (let index = first; index < last; index++) sum += shares[index];
  return last > first ? sum / (last - first) : 0;
}

function titleAt(event: PointerEvent & { currentTarget: HTMLElement }, rows: readonly BusyRow[]) {
  if (rows.length === 0) return "";
  const { left, top, width } = event.currentTarget.getBoundingClientRect();
  const at = Math.floor(((event.clientY - top) / STRIP_HEIGHT) * rows.length);
  const row = rows[Math.max(0, Math.min(at, rows.length - 1))];
  const place = Math.floor(((event.clientX - left) / width) * row.shares.length);
  const share = row.shares[Math.max(0, Math.min(place, row.shares.length - 1))];
  return `${row.name.slice(0, 200)}: ${formatShare(share)} busy here\nDrag the edges, or drag to select a new part`;
}

function describeRows(rows: readonly BusyRow[], { hosts, groups }: TimelineModel): string {
  if (hosts.value.length > 1) return `busy share of ${plural(rows.length, "host")}`;
  const kinds = busySections(groups.value[0]?.sections ?? []).map((section) => section.kind);
  const noun = kinds.every((kind) => kind === "device") ? "device" : "section";
  return `busy share of ${plural(rows.length, noun)}`;
}

function describeView({ from, to }: Span, extent: Span, zero: number): string {
  const begin = formatInstant(Math.round(from - zero));
  return `${formatPs(to - from)} of ${formatPs(extent.to - extent.from)}, from ${begin}`;
}

function clamp01(value: number): number {
  return Math.max(0, Math.min(value, 1));
}
