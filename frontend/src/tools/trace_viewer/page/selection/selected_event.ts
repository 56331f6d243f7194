/** Requests the details and flows of the selected event as soon as it is selected. */
import { effect, type Signal, signal } from "@preact/signals";
import type { EventKey, EventPlace } from "../../model/types";
import type { EventDetails, Flows } from "../../protocol/answers";
import { fetchEvent, fetchFlows, isStale } from "../../protocol/api";
import { keepTab, type Page, partOf } from "../page";
import { goTo } from "./reveal";

export interface SelectedEvent {
  /** The latest loaded event, kept while the next one is loading. */
  readonly details: Signal<EventDetails | null>;
  /** The event that `details` describes. */
  readonly of: Signal<EventKey | null>;
  readonly flows: Signal<Flows | null>;
  readonly isLoading: Signal<boolean>;
  readonly error: Signal<unknown>;
  readonly dispose: () => void;
}

/** Goes to an event from a list and keeps the list open; a click in the timeline opens details. */
export function choose(page: Page, key: EventKey, place: EventPlace, isZoomed = false): void {
  keepTab(page, () => goTo(page.model, key, place, isZoomed));
}

export function followSelection(page: Page): SelectedEvent {
  const { model, run } = page;
  const details = signal<EventDetails | null>(null);
  const of = signal<EventKey | null>(null);
  const flows = signal<Flows | null>(null);
  const isLoading = signal(false);
  const error = signal<unknown>(null);
  let asked = "";
  let abort = new AbortController();
  const dispose = effect(() => {
    const selection = model.selection.value;
    const host = selection ? model.hosts.value[selection.host] : undefined;
    const part = selection && partOf(run, host, selection.part);
    const key =
      part && selection ? `${part.host}\n${part.part}${part.version}\n${selection.id}` : "";
    // The position of the same event became known, or other hosts were loaded.
    if (key === asked) {
      if (selection && of.peek() !== null) of.value = keyOf(selection);
      return;
    }
    asked = key;
    if (selection !== null && !page.isTabKept.current) page.tab.value = "event";
    abort.abort();
    abort = new AbortController();
    const { signal: aborted } = abort;
    model.flows.value = [];
    flows.value = null;
    error.value = null;
    if (!part || !selection) {
      details.value = null;
      of.value = null;
      isLoading.value = false;
      return;
    }
    const { id } = selection;
    const fail = (caught: unknown) => {
      if (aborted.aborted) return;
      if (isStale(caught)) model.stale.value++;
      error.value = caught;
      isLoading.value = false;
    };
    isLoading.value = true;
    fetchEvent(part, id, null, aborted).then((event) => {
      if (aborted.aborted) return;
      isLoading.value = false;
      details.value = event;
      of.value = keyOf(model.selection.peek() ?? selection);
      const current = model.selection.peek();
      if (!event || current?.id !== id) return;
      // An address names only the event; a click knows its position as exactly as the picture does.
      if (current.place === null) goTo(model, current, event);
      else {
        const { row, startPs, durationPs, name } = event;
        model.selection.value = { ...current, place: { row, startPs, durationPs, name } };
      }
    }, fail);
    fetchFlows(part, id, aborted).then((answer) => {
      if (aborted.aborted) return;
      flows.value = answer;
      model.flows.value = answer.flows;
    }, fail);
  });
  return {
    details,
    of,
    flows,
    isLoading,
    error,
    dispose: () => {
      dispose();
      abort.abort();
    },
  };
}

function keyOf({ host, part, id }: EventKey): EventKey {
  return { host, part, id };
}
