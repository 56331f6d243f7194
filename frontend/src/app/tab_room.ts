/** How many tabs a bar has room for. */

export interface ToolTab {
  readonly name: string;
  readonly short: string;
  readonly title: string;
  /** Other names that people look for. */
  readonly also: readonly string[];
  readonly address: string;
  /** Other pages lead to it. */
  readonly isDetail: boolean;
  /** Why it cannot be opened, null where it can. */
  readonly reason: string | null;
  /** The way out, "" where there is none. */
  readonly hint: string;
}

/** Of a tab, left and right. */
const PADDING = 24;
export const ARROW = " ▾";

/**
 * The tabs that do not fit, in their order: first those that cannot be opened, then those of details,
 * from the last on. If the current one is among them, the menu has its name.
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

/** Lower ones leave the bar first. */
function rank(tab: ToolTab): number {
  if (isMain(tab)) return 2;
  return tab.reason === null ? 1 : 0;
}

/** Whether the tab stays in the bar as long as it can. */
export function isMain(tab: ToolTab): boolean {
  return tab.reason === null && !tab.isDetail;
}

/** The widths of tabs in px; `measure` gives that of a text, bold or not. */
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

  /** Of the menu's button, which has the name of the current tab if that is in the menu. */
  ofMenu(hidden: ToolTab | undefined): number {
    return this.measure((hidden?.short ?? "More") + ARROW, hidden !== undefined) + PADDING;
  }
}
