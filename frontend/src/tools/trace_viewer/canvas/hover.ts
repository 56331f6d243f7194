/** The hovered event: first as in the picture, then exactly, once the pointer rests. */
import type { TimelineModel } from "../model/model";
import { queryOf, sourceOf } from "../model/sources";
import type { EventPlace, Hover } from "../model/types";

const REST_MS = 90;

export class HoverFollower {
  private asked = "";
  private known: EventPlace | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private abort = new AbortController();

  constructor(private readonly model: TimelineModel) {}

  /** Shows `next`, unless it is shown already. */
  follow(next: Omit<Hover, "event"> | null): void {
    const { hover } = this.model;
    const old = hover.peek();
    const key = next ? `${next.host} ${next.part} ${next.id} ${next.count}` : "";
    if (key !== this.asked) this.ask(next, key);
    const isSame =
      next === old ||
      (next !== null &&
        old !== null &&
        next.x === old.x &&
        next.y === old.y &&
        next.id === old.id &&
        next.part === old.part &&
        next.host === old.host &&
        next.startPs === old.startPs &&
        next.durationPs === old.durationPs);
    if (!isSame) hover.value = next && { ...next, event: this.known };
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.abort.abort();
    this.model.hover.value = null;
  }

  private ask(next: Omit<Hover, "event"> | null, key: string): void {
    clearTimeout(this.timer);
    this.abort.abort();
    this.asked = key;
    this.known = null;
    if (!next || (next.count === 1 && next.roundingPs === 0)) return;
    const host = this.model.hosts.peek()[next.host];
    const source = host ? sourceOf(host, next.part) : null;
    if (!source) return;
    const abort = new AbortController();
    this.abort = abort;
    this.timer = setTimeout(() => {
      this.model.api.place(queryOf(source, 0, 0, 0), next.id, null, abort.signal).then(
        (event) => {
          if (abort.signal.aborted || !event) return;
          this.known = event.place;
          const { hover } = this.model;
          const current = hover.peek();
          if (current) hover.value = { ...current, event: event.place };
        },
        // The card stays as it is; the selection reports the error.
        () => {},
      );
    }, REST_MS);
  }
}
