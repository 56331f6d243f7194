/** What a drag does, by tool. Positions are CSS pixels of the canvas, including its axis. */
import { batch } from "@preact/signals";
import type { Engine } from "../../canvas/engine";
import { AXIS_HEIGHT, type Drag } from "../../canvas/overlay/overlay_input";
import { lastScrollTop, type PlacedLane } from "../../model/lanes/lane_layout";
import type { TimelineModel } from "../../model/model";
import { queryOf } from "../../model/sources";
import type { PointerTool, Span, TimeRange } from "../../model/types";
import { clampView, panBy, zoomAt } from "../../model/view/view_math";
import type { Snap } from "../../scene/hit_test";

export interface DragTool {
  readonly move: (x: number, y: number) => void;
  /** Called when the pointer is released. */
  readonly drop: (x: number, y: number) => void;
  readonly cancel: () => void;
}

interface DragScene {
  readonly model: TimelineModel;
  readonly engine: Pick<Engine, "psAt" | "snapAt" | "lanes" | "invalidate"> & {
    drag: Drag | null;
  };
}

/** Zoom factor of a click with the zoom tool. */
const CLICK_ZOOM = 0.5;
/** Zoom per CSS pixel up or down. */
const DRAG_ZOOM = 0.01;
/** CSS pixels around an edge of the range within which a press grabs it. */
const GRIP = 5;

export function dragTool(
  kind: PointerTool | "axis",
  scene: DragScene,
  x: number,
  y: number,
): DragTool {
  switch (kind) {
    case "pan":
      return panTool(scene, x, y);
    case "zoom":
      return zoomTool(scene, x, y);
    case "axis":
      return zoomBox(scene, x);
    case "timing":
      return rulerTool(scene, x, y);
    case "select":
      return edgeOfRange(scene, x) ? rulerTool(scene, x, y) : boxTool(scene, x, y);
  }
}

export function zoomFactor(isOut: boolean): number {
  return isOut ? 1 / CLICK_ZOOM : CLICK_ZOOM;
}

function panTool({ model }: DragScene, x: number, y: number): DragTool {
  const { view, scrollTop, width, height, lanes, extent } = model;
  const start = view.peek();
  const top = scrollTop.peek();
  const move = (atX: number, atY: number) => {
    const perPixel = (start.to - start.from) / width.peek();
    const most = lastScrollTop(lanes.peek(), height.peek());
    batch(() => {
      view.value = panBy(start, (x - atX) * perPixel, extent.peek());
      scrollTop.value = Math.max(0, Math.min(top + y - atY, most));
    });
  };
  const cancel = () => {
    view.value = start;
    scrollTop.value = top;
  };
  return { move, drop: move, cancel };
}

/** A vertical drag zooms around its start; a horizontal one draws a box. */
function zoomTool(scene: DragScene, x: number, y: number): DragTool {
  const { model, engine } = scene;
  const start = model.view.peek();
  const at = engine.psAt(x);
  const box = zoomBox(scene, x);
  let isBox: boolean | null = null;
  const move = (atX: number, atY: number) => {
    isBox ??= Math.abs(atX - x) > Math.abs(atY - y);
    if (isBox) box.move(atX, atY);
    else model.view.value = zoomAt(start, at, Math.exp((atY - y) * DRAG_ZOOM), model.extent.peek());
  };
  return {
    move,
    drop: (atX, atY) => (isBox ? box.drop(atX, atY) : move(atX, atY)),
    cancel: () => {
      model.view.value = start;
    },
  };
}

/** Zooms to the time between the two ends of the drag. */
function zoomBox({ model, engine }: DragScene, x: number): DragTool {
  const start = engine.psAt(x);
  const span = (atX: number) => ordered(start, engine.psAt(atX));
  return {
    move: (atX) => {
      engine.drag = { kind: "zoom", ...span(atX), top: 0, bottom: model.height.peek() };
      engine.invalidate();
    },
    drop: (atX) => {
      model.view.value = clampView(span(atX), model.extent.peek());
    },
    cancel: () => {},
  };
}

/** Selects the time range and the tracks that the box touches. */
function boxTool({ model, engine }: DragScene, x: number, y: number): DragTool {
  const start = engine.psAt(x);
  const span = (atX: number) => ordered(start, engine.psAt(atX));
  const sides = (atY: number) => {
    const [top, bottom] = y < atY ? [y, atY] : [atY, y];
    return {
      top: Math.max(top - AXIS_HEIGHT, 0),
      bottom: Math.min(bottom - AXIS_HEIGHT, model.height.peek()),
    };
  };
  return {
    move: (atX, atY) => {
      engine.drag = { kind: "box", ...span(atX), ...sides(atY) };
      engine.invalidate();
    },
    drop: (atX, atY) => {
      const tracks = lanesIn(engine.lanes, sides(atY).top, sides(atY).bottom);
      model.range.value = tracks.length > 0 ? { ...span(atX), tracks } : null;
      if (tracks.length > 0) model.rangeDrawn.value++;
    },
    cancel: () => {},
  };
}

/** A ruler over all tracks with snapping ends. A drag near an end of an existing ruler moves it. */
function rulerTool(scene: DragScene, x: number, y: number): DragTool {
  const { model, engine } = scene;
  const before = model.range.peek();
  const held = edgeOfRange(scene, x);
  const start = held ? { ps: held.other, rounded: null } : engine.snapAt(x, y, before);
  const tracks = held ? (before?.tracks ?? null) : null;
  // Do not snap to the ruler itself: it would stick to its old position.
  const end = (atX: number, atY: number) => engine.snapAt(atX, atY, null);
  const move = (atX: number, atY: number) => {
    model.range.value = { ...ordered(start.ps, end(atX, atY).ps), tracks };
  };
  return {
    move,
    drop: (atX, atY) => {
      move(atX, atY);
      model.rangeDrawn.value++;
      void refineRange(model, start, end(atX, atY));
    },
    cancel: () => {
      model.range.value = before;
    },
  };
}

/** If an end of the range is near `x`, the other end. */
export function edgeOfRange(
  { model, engine }: DragScene,
  x: number,
): { readonly other: number } | null {
  const range: TimeRange | null = model.range.peek();
  if (!range) return null;
  const { from, to } = model.view.peek();
  const reach = (GRIP / Math.max(model.width.peek(), 1)) * (to - from);
  const at = engine.psAt(x);
  if (Math.abs(at - range.to) <= reach) return { other: range.from };
  if (Math.abs(at - range.from) <= reach) return { other: range.to };
  return null;
}

/** Keys of the tracks and counters that [top, bottom] touches. Includes folded ones. */
function lanesIn(lanes: readonly PlacedLane[], top: number, bottom: number): readonly string[] {
  const keys: string[] = [];
  for (const { lane, y, clip } of lanes) {
    if (y + lane.height <= Math.max(top, clip) || y >= bottom) continue;
    if (lane.kind === "track" || lane.kind === "counter") keys.push(lane.key);
    else if (lane.kind !== "idle" && lane.isCollapsed) {
      const sections = lane.kind === "section" ? [lane.section] : lane.group.sections;
      keys.push(...sections.flatMap(({ tracks }) => tracks.map(({ key }) => key)));
    }
  }
  return [...new Set(keys)];
}

type End = Pick<Snap, "ps" | "rounded">;

/** Moves the ruler's ends to the exact edges, unless it has changed meanwhile. */
async function refineRange(model: TimelineModel, one: End, other: End): Promise<void> {
  const range = model.range.peek();
  if (!range || (!one.rounded && !other.rounded)) return;
  try {
    const [a, b] = await Promise.all([exactEnd(model, one), exactEnd(model, other)]);
    if (model.range.peek() === range)
      model.range.value = { ...ordered(a, b), tracks: range.tracks };
  } catch {
    // The ruler keeps the edges of the picture, which are at most 1/16 pixel off.
  }
}

async function exactEnd({ api }: TimelineModel, { ps, rounded }: End): Promise<number> {
  if (!rounded) return ps;
  const { source, id, isEnd } = rounded;
  const query = queryOf(source, 0, 0, 0);
  const event = await api.place(query, id, null, new AbortController().signal);
  if (!event) return ps;
  const { startPs, durationPs } = event.place;
  return source.host.offsetPs + startPs + (isEnd ? durationPs : 0);
}

function ordered(a: number, b: number): Span {
  return a < b ? { from: a, to: b } : { from: b, to: a };
}
