/** Pointer and wheel gestures on the canvas. */
import { batch } from "@preact/signals";
import type { Engine, EventUnderPointer } from "../../canvas/engine";
import { AXIS_HEIGHT } from "../../canvas/overlay/overlay_input";
import { lastScrollTop } from "../../model/lanes/lane_layout";
import type { TimelineModel } from "../../model/model";
import { panBy, zoomAt } from "../../model/view/view_math";
import type { Motion } from "../motion";
import { type DragTool, dragTool, zoomFactor } from "./drag_tools";
import { wheelMove } from "./wheel";

interface GestureActions {
  /** A click on an event, or on nothing. */
  readonly choose: (event: EventUnderPointer | null) => void;
  /** A double click on an event. */
  readonly fit: (event: EventUnderPointer) => void;
  /** The mark whose flag is at (x, y), -1 for none. */
  readonly markAt: (x: number, y: number) => number;
  readonly editMark: (mark: number) => void;
}

interface Pressed {
  readonly tool: DragTool;
  readonly pointer: number;
  readonly x: number;
  readonly y: number;
  isMoved: boolean;
}

/** CSS pixels that the pointer may move during a click. */
const STILL = 4;

export class Gestures {
  private pressed: Pressed | null = null;
  private readonly touches = new Map<number, { x: number; y: number }>();
  private isSpace = false;
  private readonly abort = new AbortController();

  constructor(
    private readonly element: HTMLElement,
    private readonly model: TimelineModel,
    private readonly engine: Engine,
    private readonly motion: Motion,
    private readonly actions: GestureActions,
  ) {
    const { signal } = this.abort;
    element.addEventListener("pointerdown", this.onDown, { signal });
    element.addEventListener("pointermove", this.onMove, { signal });
    element.addEventListener("pointerup", this.onUp, { signal });
    element.addEventListener("pointercancel", this.onCancel, { signal });
    element.addEventListener("pointerleave", this.onLeave, { signal });
    element.addEventListener("dblclick", this.onDouble, { signal });
    // Prevent the wheel from zooming the page.
    element.addEventListener("wheel", this.onWheel, { signal, passive: false });
    element.addEventListener("keydown", this.onKey, { signal });
    document.addEventListener("keyup", this.onKeyUp, { signal });
    // Prevent autoscroll of the middle button.
    element.addEventListener("mousedown", (event) => event.button === 1 && event.preventDefault(), {
      signal,
    });
  }

  dispose(): void {
    this.abort.abort();
  }

  /** Cancels the drag in progress. Returns whether there was one. */
  cancel(): boolean {
    if (!this.pressed) return false;
    this.pressed.tool.cancel();
    this.end();
    return true;
  }

  private readonly onDown = (event: PointerEvent): void => {
    if (event.target instanceof Element && event.target.closest("input, button, [role=scrollbar]"))
      return;
    const { x, y } = this.placeOf(event);
    if (event.pointerType === "touch") {
      this.touches.set(event.pointerId, { x, y });
      // A second finger continues from the view that the first one has reached.
      if (this.touches.size > 1) {
        this.end();
        return;
      }
    }
    if (this.pressed || event.button > 1) return;
    this.motion.stop();
    this.element.focus({ preventScroll: true });
    this.element.setPointerCapture(event.pointerId);
    const isPan = event.button === 1 || this.isSpace || event.pointerType === "touch";
    const kind = isPan ? "pan" : y < AXIS_HEIGHT ? "axis" : this.model.tool.peek();
    const tool = dragTool(kind, { model: this.model, engine: this.engine }, x, y);
    this.pressed = { tool, pointer: event.pointerId, x, y, isMoved: false };
    event.preventDefault();
  };

  private readonly onMove = (event: PointerEvent): void => {
    const { x, y } = this.placeOf(event);
    if (this.touches.has(event.pointerId)) {
      if (this.touches.size === 2) {
        this.pinch(event.pointerId, x, y);
        return;
      }
      this.touches.set(event.pointerId, { x, y });
    }
    const { pressed, engine } = this;
    if (event.pointerType !== "touch") engine.pointer = { x, y };
    engine.invalidate();
    if (pressed?.pointer !== event.pointerId) {
      if (!pressed) this.showCursor(x, y);
      return;
    }
    pressed.isMoved ||= Math.hypot(x - pressed.x, y - pressed.y) >= STILL;
    engine.isPressed = pressed.isMoved;
    if (pressed.isMoved) pressed.tool.move(x, y);
  };

  private readonly onUp = (event: PointerEvent): void => {
    const { x, y } = this.placeOf(event);
    this.touches.delete(event.pointerId);
    const { pressed } = this;
    if (pressed?.pointer !== event.pointerId) return;
    this.end();
    if (pressed.isMoved) pressed.tool.drop(x, y);
    else this.click(x, y, event);
  };

  private readonly onCancel = (event: PointerEvent): void => {
    this.touches.delete(event.pointerId);
    if (this.pressed?.pointer === event.pointerId) this.cancel();
  };

  private readonly onLeave = (): void => {
    if (this.pressed) return;
    this.engine.pointer = null;
    this.engine.invalidate();
  };

  private readonly onDouble = (event: MouseEvent): void => {
    const { x, y } = this.placeOf(event);
    const hover = this.engine.hoverAt(x, y);
    if (hover && this.model.tool.peek() === "select") this.actions.fit(hover);
  };

  private readonly onWheel = (event: WheelEvent): void => {
    event.preventDefault();
    this.motion.stop();
    const { model, engine } = this;
    const { x, y } = this.placeOf(event);
    const width = model.width.peek();
    const move = wheelMove(event, y < AXIS_HEIGHT, model.height.peek());
    const { view, extent, scrollTop, lanes, height } = model;
    batch(() => {
      if (move.zoom !== 0) {
        view.value = zoomAt(view.peek(), engine.psAt(x), Math.exp(move.zoom), extent.peek());
      }
      if (move.pan !== 0) {
        const { from, to } = view.peek();
        view.value = panBy(view.peek(), (move.pan / width) * (to - from), extent.peek());
      }
      if (move.scroll !== 0) {
        const most = lastScrollTop(lanes.peek(), height.peek());
        scrollTop.value = Math.max(0, Math.min(scrollTop.peek() + move.scroll, most));
      }
    });
  };

  /** While the space bar is held, every drag pans. */
  private readonly onKey = (event: KeyboardEvent): void => {
    if (event.key !== " " || event.target !== this.element) return;
    event.preventDefault();
    this.isSpace = true;
    this.element.style.cursor = "grab";
  };

  private readonly onKeyUp = (event: KeyboardEvent): void => {
    if (event.key !== " ") return;
    this.isSpace = false;
    this.element.style.cursor = "";
  };

  private click(x: number, y: number, event: PointerEvent): void {
    const { model, engine, actions } = this;
    const mark = y < AXIS_HEIGHT ? actions.markAt(x, y) : -1;
    if (mark >= 0) {
      actions.editMark(mark);
      return;
    }
    if (y < AXIS_HEIGHT) {
      model.range.value = null;
      return;
    }
    if (event.button === 1) return;
    if (model.tool.peek() === "zoom") {
      const factor = zoomFactor(event.shiftKey || event.altKey);
      this.motion.flyTo(zoomAt(model.view.peek(), engine.psAt(x), factor, model.extent.peek()));
      return;
    }
    actions.choose(engine.hoverAt(x, y));
  }

  private pinch(id: number, x: number, y: number): void {
    const { model, engine, touches } = this;
    const [other] = [...touches].filter(([touch]) => touch !== id).map(([, place]) => place);
    const before = touches.get(id)!;
    touches.set(id, { x, y });
    const spread = (place: { x: number; y: number }) =>
      Math.max(Math.hypot(place.x - other.x, place.y - other.y), 20);
    const middle = (place: { x: number }) => (place.x + other.x) / 2;
    const { view, extent } = model;
    const at = engine.psAt(middle(before));
    const zoomed = zoomAt(view.peek(), at, spread(before) / spread({ x, y }), extent.peek());
    const perPixel = (zoomed.to - zoomed.from) / model.width.peek();
    view.value = panBy(zoomed, (middle(before) - middle({ x })) * perPixel, extent.peek());
  }

  private end(): void {
    if (this.pressed && this.element.hasPointerCapture(this.pressed.pointer))
      this.element.releasePointerCapture(this.pressed.pointer);
    this.pressed = null;
    this.engine.drag = null;
    this.engine.isPressed = false;
    this.engine.invalidate();
  }

  private showCursor(x: number, y: number): void {
    if (this.isSpace) return;
    const tool = this.model.tool.peek();
    const isFlag = y < AXIS_HEIGHT && this.actions.markAt(x, y) >= 0;
    const cursor = isFlag
      ? "pointer"
      : y < AXIS_HEIGHT
        ? "col-resize"
        : { select: "default", pan: "grab", zoom: "zoom-in", timing: "crosshair" }[tool];
    if (this.element.style.cursor !== cursor) this.element.style.cursor = cursor;
  }

  private placeOf(event: MouseEvent): { readonly x: number; readonly y: number } {
    const box = this.element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }
}
