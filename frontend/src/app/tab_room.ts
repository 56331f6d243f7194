/** Which tabs fit into the bar. */

export interface ToolTab {
  readonly name: string;
  readonly short: string;
  readonly title: string;
  /** Other names that users may search for. */
  readonly also: readonly string[];
  readonly address: string;
  /** A detail page, which other pages link to. */
  readonly isDetail: boolean;
  /** Why it cannot be opened; null if it can. */
  readonly reason: string | null;
  /** How to get data for it, or "". */
  readonly hint: string;
}

/** Of a tab, left and right together, in px. */
const PADDING = 24;
export const ARROW = " ▾";

/**
 * The tabs that do not fit, in their order. Unavailable tabs leave the bar first, then detail pages,
 * each from the last one on. If the current tab does not fit, the menu button shows its name.
 */
export function overflow(tabs: readonly ToolTab[], width: number, room: TabRoom): ToolTab[] {
  if (room.ofAll(tabs) <= width) return [];
  const rest = tabsBeyond(tabs, width - room.ofMenu(undefined), room);
  const hidden = rest.find((tab) => tab.name === room.current);
  return hidden ? tabsBeyond(tabs, width - room.ofMenu(hidden), room) : rest;
}

function tabsBeyond(tabs: readonly ToolTab[], width: number, room: TabRoom): ToolTab[] {
  const order = [...tabs].reverse().sort((a, b) => rank(a) - rank(b));
  const rest = new Set<ToolTab>();
  let used = room.ofAll(tabs);
  for (const tab of order) {
    if (used <= width) break;
    rest.add(tab);
    used -= room.of(tab);
  }
  return tabs.filter((tab) => rest.has(tab));
}

/** Tabs with a lower rank leave the bar first. */
function rank(tab: ToolTab): number {
  if (isMain(tab)) return 2;
  return tab.reason === null ? 1 : 0;
}

/** Whether the tab is among the last to leave the bar. */
export function isMain(tab: ToolTab): boolean {
  return tab.reason === null && !tab.isDetail;
}

/** The widths of tabs in px; `measure` returns the width of a text, bold or not. */
export class TabRoom {
  constructor(
    readonly current: string,
    private readonly measure: (text: string, isBold: boolean) => number,
  ) {}

  of(tab: ToolTab): number {
    return this.measure(tab.short, tab.name === this.current) + PADDING;
  }

  ofAll(tabs: readonly ToolTab[]): number {
    return tabs.reduce((sum, tab) => sum + this.of(tab), 0);
  }

  /** Of the menu button, which shows the current tab's name if that tab is in the menu. */
  ofMenu(hidden: ToolTab | undefined): number {
    return this.measure((hidden?.short ?? "More") + ARROW, hidden !== undefined) + PADDING;
  }
}
