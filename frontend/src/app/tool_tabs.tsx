/** The pages of a run as links; what does not fit goes into "More". */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Menu } from "../widgets/overlays/menu";

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

interface ToolTabsProps {
  readonly tabs: readonly ToolTab[];
  readonly current: string;
  readonly open: (tool: string) => void;
}

const MAIN = 2;
/** What the tabs give up themselves while the pickers shrink. */
const SLACK = 4;
/** The current name is bold. */
const BOLD = 1.08;

export function ToolTabs({ tabs, current, open }: ToolTabsProps) {
  const nav = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(Number.POSITIVE_INFINITY);
  useLayoutEffect(() => {
    const element = nav.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const rest = overflow(tabs, width, current);
  const hidden = rest.find((tab) => tab.name === current);
  const main = tabs.filter((tab) => rank(tab) === MAIN);
  const isAll = main.length === tabs.length;
  return (
    <nav
      class="tabs"
      aria-label="Pages"
      ref={nav}
      // The pickers shrink for the main tabs alone; the others take what is left.
      style={{
        flexBasis: `${widthOf(main) + (isAll ? 0 : moreWidth(hidden)) + SLACK}px`,
        minWidth: `${moreWidth(hidden)}px`,
      }}
    >
      {tabs
        .filter((tab) => !rest.includes(tab))
        .map((tab) => (
          <TabLink key={tab.name} tab={tab} isCurrent={tab.name === current} open={open} />
        ))}
      {rest.length > 0 ? (
        <Menu
          label={`${hidden?.short ?? "More"} ▾`}
          title={`${hidden?.short ?? "More"}: more pages`}
          buttonClass={hidden ? "tab current" : "tab"}
          items={rest.map((tab) => ({
            label: tab.short,
            isChecked: tab.name === current,
            reason: tab.reason === null ? undefined : withHint(tab.reason, tab.hint),
            run: () => open(tab.name),
          }))}
        />
      ) : null}
    </nav>
  );
}

function TabLink({
  tab,
  isCurrent,
  open,
}: {
  tab: ToolTab;
  isCurrent: boolean;
  open: (tool: string) => void;
}) {
  if (tab.reason !== null && !isCurrent) return <UnavailableTab tab={tab} reason={tab.reason} />;
  const follow = (event: MouseEvent) => {
    // Other buttons and modifiers open the link elsewhere, as for any link.
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(tab.name);
  };
  return (
    <a
      class={isCurrent ? "tab current" : "tab"}
      href={tab.address}
      title={tab.title}
      aria-current={isCurrent ? "page" : undefined}
      onClick={follow}
    >
      {tab.short}
    </a>
  );
}

/** Gray, with the reason while it is pointed at or has the focus; Escape puts the reason away. */
function UnavailableTab({ tab, reason }: { tab: ToolTab; reason: string }) {
  const [isShown, setShown] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only shows what the link's name says
    <span
      class="tab-place"
      onMouseEnter={() => setShown(true)}
      onMouseLeave={() => setShown(false)}
      onFocusIn={() => setShown(true)}
      onFocusOut={() => setShown(false)}
      onKeyDown={(event) => {
        if (event.key === "Escape") setShown(false);
      }}
    >
      <span
        class="tab unavailable"
        role="link"
        aria-disabled="true"
        tabIndex={0}
        aria-label={`${tab.short}, ${tab.title}: ${withHint(reason, tab.hint)}`}
      >
        {tab.short}
      </span>
      {isShown ? (
        <span class="tip" aria-hidden="true">
          <b>{tab.title}</b> {withHint(reason, tab.hint)}
        </span>
      ) : null}
    </span>
  );
}

function withHint(reason: string, hint: string): string {
  return hint === "" ? reason : `${reason}; ${hint}`;
}

/**
 * The tabs that do not fit, in their order: first those that cannot be opened, then those of details,
 * from the last on. If the current one is among them, the menu has its name.
 */
export function overflow(tabs: readonly ToolTab[], width: number, current = ""): ToolTab[] {
  if (widthOf(tabs) <= width) return [];
  const rest = tabsBeyond(tabs, width - moreWidth(undefined));
  const hidden = rest.find((tab) => tab.name === current);
  return hidden ? tabsBeyond(tabs, width - moreWidth(hidden)) : rest;
}

function tabsBeyond(tabs: readonly ToolTab[], width: number): ToolTab[] {
  const order = [...tabs].reverse().sort((a, b) => rank(a) - rank(b));
  const rest = new Set<ToolTab>();
  let used = widthOf(tabs);
  for (const tab of order) {
    if (used <= width) break;
    rest.add(tab);
    used -= widthOf([tab]);
  }
  return tabs.filter((tab) => rest.has(tab));
}

/** Lower ones leave the bar first. */
function rank(tab: ToolTab): number {
  if (tab.reason !== null) return 0;
  return tab.isDetail ? 1 : MAIN;
}

/** The width of tabs by the length of their names: nothing is drawn twice to be measured. */
function widthOf(tabs: readonly ToolTab[]): number {
  return tabs.reduce((sum, tab) => sum + 26 + tab.short.length * 7.4, 0);
}

/** The width of the menu's button, which has the name of the current tab if that is in the menu. */
function moreWidth(hidden: ToolTab | undefined): number {
  return hidden ? widthOf([hidden]) * BOLD + 22 : 84;
}
