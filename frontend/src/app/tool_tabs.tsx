/** The pages of a run as links; those that do not fit are in the "More" menu. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Menu } from "../widgets/overlays/menu";
import { ARROW, isMain, overflow, TabRoom, type ToolTab } from "./tab_room";

interface ToolTabsProps {
  readonly tabs: readonly ToolTab[];
  readonly current: string;
  readonly open: (tool: string) => void;
}

/** Spare px, so that rounding does not push a tab out while the pickers shrink. */
const SLACK = 2;

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
  const room = new TabRoom(current, textWidth);
  const rest = overflow(tabs, width, room);
  const hidden = rest.find((tab) => tab.name === current);
  const main = tabs.filter(isMain);
  const isAll = main.length === tabs.length;
  return (
    <nav
      class="tabs"
      aria-label="Pages"
      ref={nav}
      // The pickers shrink only for the main tabs; other tabs use the room that is left.
      style={{
        flexBasis: `${room.ofAll(main) + (isAll ? 0 : room.ofMenu(hidden)) + SLACK}px`,
        minWidth: `${room.ofMenu(hidden)}px`,
      }}
    >
      {tabs
        .filter((tab) => !rest.includes(tab))
        .map((tab) => (
          <TabLink key={tab.name} tab={tab} isCurrent={tab.name === current} open={open} />
        ))}
      {rest.length > 0 ? (
        <Menu
          label={`${hidden?.short ?? "More"}${ARROW}`}
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
    // Other buttons and modifiers keep their usual meaning, such as opening a new tab.
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

/** A gray tab that shows the reason on hover and focus; Escape hides the reason. */
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

const makePen = () => document.createElement("canvas").getContext("2d")!;
let pen: CanvasRenderingContext2D | undefined;
/** By weight and text: each drawing of the tabs asks for all of them several times. */
const widths = new Map<string, number>();

function textWidth(text: string, isBold: boolean): number {
  const weight = isBold ? 600 : 400;
  const known = widths.get(`${weight} ${text}`);
  if (known !== undefined) return known;
  pen ??= makePen();
  pen.font = `${weight} 13px ${getComputedStyle(document.body).fontFamily}`;
  const { width } = pen.measureText(text);
  widths.set(`${weight} ${text}`, width);
  return width;
}
