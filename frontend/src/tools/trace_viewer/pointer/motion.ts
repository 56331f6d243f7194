/** Animates the view: movement while keys are held, and flights to a view. */
import type { TimelineModel } from "../model/model";
import type { Span } from "../model/types";
import { between, panBy, zoomAt } from "../model/view/view_math";

export type Direction = "in" | "out" | "left" | "right";

/** Canvas widths per second at full speed. */
const PAN_SPEED = 1.6;
/** Factor per second, as a power of e. */
const ZOOM_SPEED = 3;
/** Time until full speed; a short press moves at least this long. */
const RAMP_MS = 250;
const LEAST_MS = 110;
const FLIGHT_MS = 220;

interface HeldDirection {
  readonly since: number;
  /** null while it is held. */
  until: number | null;
}

export class Motion {
  private readonly held = new Map<Direction, HeldDirection>();
  private flight: { readonly from: Span; readonly to: Span; readonly start: number } | null = null;
  private request = 0;
  private last = 0;

  constructor(
    private readonly model: TimelineModel,
    /** The time that stays in place while zooming. */
    private readonly center: () => number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  press(direction: Direction): void {
    const held = this.held.get(direction);
    if (held && held.until === null) return;
    this.flight = null;
    this.held.set(direction, { since: this.now(), until: null });
    this.start();
  }

  release(direction: Direction): void {
    const held = this.held.get(direction);
    if (held) held.until = Math.max(this.now(), held.since + LEAST_MS);
  }

  releaseAll(): void {
    for (const direction of this.held.keys()) this.release(direction);
  }

  /** Moves to a view; immediately if the user prefers reduced motion. */
  flyTo(to: Span): void {
    this.held.clear();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.model.view.value = to;
      return;
    }
    this.flight = { from: this.model.view.peek(), to, start: this.now() };
    this.start();
  }

  /** Stops, since the user took over. */
  stop(): void {
    this.flight = null;
    this.held.clear();
  }

  dispose(): void {
    this.stop();
    cancelAnimationFrame(this.request);
  }

  private start(): void {
    if (this.request !== 0) return;
    this.last = this.now();
    this.request = requestAnimationFrame(this.step);
  }

  private readonly step = (): void => {
    const now = this.now();
    const last = this.last;
    this.last = now;
    this.request = 0;
    if (this.flight) this.fly(this.flight, now);
    if (this.held.size > 0) this.drift(last, now);
    if (this.flight || this.held.size > 0) this.request = requestAnimationFrame(this.step);
  };

  private fly({ from, to, start }: { from: Span; to: Span; start: number }, now: number): void {
    const part = Math.min((now - start) / FLIGHT_MS, 1);
    const eased = 1 - (1 - part) ** 3;
    this.model.view.value = part === 1 ? to : between(from, to, eased);
    if (part === 1) this.flight = null;
  }

  private drift(last: number, now: number): void {
    const { view, extent } = this.model;
    let next = view.peek();
    for (const [direction, { since, until }] of this.held) {
      // The first frame may come after the end of a short press, which counts all the same.
      const end = until === null ? now : Math.min(now, until);
      if (end === until) this.held.delete(direction);
      // Do not leap after the page was paused.
      const passed = Math.min(end - Math.max(last, since), LEAST_MS) / 1000;
      const speed = Math.min((end - since) / RAMP_MS + 0.35, 1) * passed;
      const width = next.to - next.from;
      if (direction === "left") next = panBy(next, -PAN_SPEED * speed * width, extent.peek());
      else if (direction === "right") next = panBy(next, PAN_SPEED * speed * width, extent.peek());
      else {
        const power = (direction === "in" ? -1 : 1) * ZOOM_SPEED * speed;
        next = zoomAt(next, this.center(), Math.exp(power), extent.peek());
      }
    }
    if (next !== view.peek()) view.value = next;
  }
}
