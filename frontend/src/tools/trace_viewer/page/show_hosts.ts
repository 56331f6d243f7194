/** Adds hosts to the model without moving what is on the screen. */
import type { TimelineModel } from "../model/model";
import { placeHosts } from "../model/place_hosts";
import type { HostTimeline, Span } from "../model/types";
import type { TimelineIndex } from "../protocol/payload";
import { initiallyFolded, type Page, symmetricDifference, withMargins } from "./page";

export interface LoadedHost {
  readonly events: TimelineIndex;
  /** null: absent or failed; undefined: not requested yet. */
  derived?: TimelineIndex | null;
}

/** Keeps the screen in place, unless the user has not moved the view yet. */
export function showHosts(
  page: Page,
  hosts: readonly string[],
  kept: ReadonlyMap<string, LoadedHost>,
): void {
  const { model } = page;
  const before = model.hosts.peek();
  const after = placeHosts(
    hosts.map((host) => {
      const { events, derived } = kept.get(host)!;
      return { events, derived: derived ?? null };
    }),
  );
  const anchor = before.length > 0 && hasMoved(page) ? anchorOf(model) : null;
  const isResting = !hasMoved(page);
  const folds = symmetricDifference(
    model.arrangement.peek().collapsed,
    initiallyFolded(model.groups.peek(), page.launchers.peek()),
  );
  model.hosts.value = after;
  const collapsed = new Set(
    symmetricDifference(new Set(folds), initiallyFolded(model.groups.value, page.launchers.peek())),
  );
  if (symmetricDifference(collapsed, model.arrangement.peek().collapsed).length > 0)
    model.arrangement.value = { ...model.arrangement.peek(), collapsed };
  const common = before.find((host) => after.some((other) => other.host === host.host));
  const shift = common
    ? after.find((host) => host.host === common.host)!.offsetPs - common.offsetPs
    : 0;
  if (shift !== 0) shiftTimes(page, shift);
  moveSelection(model, before, after);
  if (isResting) showInitialView(page);
  if (anchor) {
    const lane = model.lanes.value.byKey.get(anchor.key);
    if (lane) model.scrollTop.value = Math.max(lane.top - anchor.above, 0);
  }
}

/** The default view: the median step if known, otherwise the whole trace. */
function showInitialView({ model, initialView: restingView }: Page): void {
  const extent = model.extent.value;
  const hosts = model.hosts.peek();
  const host = hosts.find(
    ({ events, derived }) => (derived?.initialWindow ?? events.initialWindow) !== null,
  );
  const home = host && (host.derived?.initialWindow ?? host.events.initialWindow);
  const view = home
    ? withMargins({ from: home.fromPs + host.offsetPs, to: home.toPs + host.offsetPs })
    : withMargins(extent, 0.01);
  restingView.value = view;
  model.view.value = view;
}

/** Whether the view has moved from where the page put it. */
function hasMoved({ model, initialView: restingView }: Page): boolean {
  return (
    model.hosts.peek().length > 0 &&
    (model.view.peek() !== restingView.peek() || model.scrollTop.peek() > 0)
  );
}

/** The first lane on the screen, and how far its top is above the edge. */
function anchorOf({ lanes, scrollTop }: TimelineModel): { key: string; above: number } | null {
  const top = scrollTop.peek();
  const lane = lanes.peek().scrolled.find((candidate) => candidate.top + candidate.height > top);
  return lane ? { key: lane.key, above: lane.top - top } : null;
}

function shiftTimes({ model, initialView: restingView, listedSpan }: Page, by: number): void {
  const moved = <T extends Span>(span: T): T => ({
    ...span,
    from: span.from + by,
    to: span.to + by,
  });
  const view = moved(model.view.peek());
  if (restingView.peek() === model.view.peek()) restingView.value = view;
  model.view.value = view;
  const range = model.range.peek();
  if (range) model.range.value = moved(range);
  const listed = listedSpan.peek();
  if (listed) listedSpan.value = moved(listed);
  model.marks.value = model.marks.peek().map(moved);
}

function moveSelection(
  model: TimelineModel,
  before: readonly HostTimeline[],
  after: readonly HostTimeline[],
): void {
  model.hover.value = null;
  const selection = model.selection.peek();
  if (selection === null || before.length === 0) return;
  const name = before[selection.host]?.host;
  const index = after.findIndex((host) => host.host === name);
  if (index === selection.host) return;
  model.selection.value = index < 0 ? null : { ...selection, host: index };
}
