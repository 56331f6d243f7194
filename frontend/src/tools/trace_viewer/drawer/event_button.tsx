/** A button with the name of another event; a click goes to it. */
import type { ComponentChildren } from "preact";
import type { EventKey } from "../model/types";
import { type Page, partOf } from "../page/page";
import { goTo } from "../page/selection/reveal";
import { fetchEvent } from "../protocol/api";

interface EventButtonProps {
  readonly page: Page;
  readonly of: EventKey;
  readonly children: ComponentChildren;
}

export function EventButton({ page, of, children }: EventButtonProps) {
  return (
    <button type="button" class="link trace-link" onClick={() => void goToEvent(page, of)}>
      {children}
    </button>
  );
}

/** Fetches the event's position, and goes there. */
async function goToEvent(page: Page, key: EventKey): Promise<void> {
  const { model, run } = page;
  const of = partOf(run, model.hosts.peek()[key.host], key.part);
  if (!of) return;
  try {
    const event = await fetchEvent(of, key.id, null, new AbortController().signal);
    if (event) goTo(model, key, event);
  } catch (error) {
    model.error.value = error;
  }
}
