/** Converts between the page's state and its address. */
import { batch } from "@preact/signals";
import type { Span } from "../model/types";
import { panBy } from "../model/view/view_math";
import type { Address, AddressSpan } from "./address";
import { initiallyFolded, isSame, keepTab, type Page, symmetricDifference } from "./page";

/** Keeps the address of the page out of the way of the view that it opens with. */
export function addressOf(page: Page): Address {
  const { model } = page;
  const hosts = model.hosts.value;
  const start = model.zero.value;
  const within = ({ from, to }: Span): AddressSpan => ({ from: from - start, to: to - start });
  const selection = model.selection.value;
  const range = model.range.value;
  const { collapsed, hidden, pinned, order, trackFilter, isIdleShown } = model.arrangement.value;
  const host = selection ? hosts[selection.host]?.host : undefined;
  return {
    span: model.view.value === page.initialView.value ? null : within(model.view.value),
    step: "",
    event:
      selection && host !== undefined ? { host, part: selection.part, id: selection.id } : null,
    range: range && { ...within(range), tracks: range.tracks },
    marks: model.marks.value.map((mark) => ({ ...within(mark), label: mark.label })),
    search: model.search.value,
    filter: model.filter.value,
    color: model.color.value,
    tool: model.tool.value,
    pinned: isSame(pinned, page.launchers.value) ? null : pinned,
    hidden: [...hidden],
    folds: symmetricDifference(
      collapsed,
      initiallyFolded(model.groups.value, page.launchers.value),
    ),
    order,
    trackFilter,
    isIdleShown,
    tab: page.tab.value,
    by: page.by.value,
    calls: page.calls.value,
    isList: page.isList.value,
  };
}

/** Moves a view that the address put beyond the trace back into it, and records it in `cutView`. */
export function keepWithinTrace({ model, initialView, cutView }: Page): void {
  const view = model.view.peek();
  if (view === initialView.peek()) return;
  const within = panBy(view, 0, model.extent.peek());
  if (within === view) return;
  model.view.value = within;
  cutView.value = within;
}

/** Applies the address once the hosts are loaded. Steps are looked up elsewhere. */
export function applyAddress(page: Page, address: Address): void {
  const { model } = page;
  const hosts = model.hosts.peek();
  const start = model.zero.peek();
  const onAxis = ({ from, to }: AddressSpan): Span => ({ from: from + start, to: to + start });
  const { event, range, pinned, order, trackFilter, isIdleShown } = address;
  const index = event ? hosts.findIndex(({ host }) => host === event.host) : -1;
  const current = model.selection.peek();
  const isCurrent =
    current !== null &&
    event !== null &&
    current.host === index &&
    current.part === event.part &&
    current.id === event.id;
  // The address specifies which tab is open.
  const apply = () => {
    if (address.span) {
      model.view.value = onAxis(address.span);
      page.initialView.value = null;
    }
    if (!isCurrent) {
      model.selection.value =
        event && index >= 0 ? { host: index, part: event.part, id: event.id, place: null } : null;
    }
    model.range.value = range && { ...onAxis(range), tracks: range.tracks };
    model.marks.value = address.marks.map((mark) => ({ ...onAxis(mark), label: mark.label }));
    model.search.value = address.search;
    model.filter.value = address.filter;
    model.color.value = address.color;
    model.tool.value = address.tool;
    model.arrangement.value = {
      collapsed: new Set(
        symmetricDifference(
          new Set(address.folds),
          initiallyFolded(model.groups.peek(), page.launchers.peek()),
        ),
      ),
      hidden: new Set(address.hidden),
      pinned: pinned ?? page.launchers.peek(),
      order,
      trackFilter,
      isIdleShown,
    };
    page.tab.value = address.tab;
    page.by.value = address.by;
    page.calls.value = address.calls;
    page.isList.value = address.isList;
  };
  keepTab(page, () => batch(apply));
}
