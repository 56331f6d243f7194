/** Selects a call in the timeline, and moves the view only if the call is not in it. */
import { batch } from "@preact/signals";
import type { CallTree } from "../call_tree/call_tree";
import { bringIntoView } from "../model/view/view_math";
import { keepTab, type Page, partOf } from "../page/page";
import { revealRow } from "../page/selection/reveal";
import { fetchEvent } from "../protocol/api";

/** Shows the longest call of a node; false if it is unknown. */
export async function showLongest(
  page: Page,
  { longest, host }: CallTree,
  node: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { model, run } = page;
  const of = model.hosts.peek()[host[node]];
  const part = partOf(run, of, "events");
  if (longest[node] < 0 || !of || !part) return false;
  const event = await fetchEvent(part, longest[node], null, signal);
  if (event === null || signal.aborted) return false;
  const { id, row, startPs, durationPs, name } = event;
  const key = { host: of.at, part: "events", id } as const;
  const from = startPs + of.offsetPs;
  const span = { from, to: from + durationPs };
  const { from: left, to: right } = model.view.peek();
  keepTab(page, () =>
    batch(() => {
      model.selection.value = { ...key, place: { row, startPs, durationPs, name } };
      // Moving the view would change the call tree of the view.
      if (span.to <= left || span.from >= right)
        model.view.value = bringIntoView(model.view.peek(), span, model.extent.peek());
      revealRow(model, key, row);
    }),
  );
  return true;
}
