/** The drawer below the timeline: details of the selected event, sums, search hits, call tree. */
import type { Signal } from "@preact/signals";
import { useId, useRef } from "preact/hooks";
import { formatCount } from "../../../base/format";
import { Late } from "../../../widgets/late";
import type { Links } from "../../tool";
import { Splitter } from "../frame/splitter";
import { type DrawerTab, TABS } from "../page/address";
import type { Page } from "../page/page";
import type { SelectedEvent } from "../page/selection/selected_event";
import { HitsPane } from "../search/results_pane";
import type { SearchResults } from "../search/search_results";
import { AggregatePane } from "./aggregate_pane";
import { EventPane } from "./event_pane";

interface DrawerProps {
  readonly page: Page;
  readonly hits: SearchResults;
  readonly selected: SelectedEvent;
  readonly links: Links;
  readonly height: Signal<number>;
}

const TITLES: Readonly<Record<DrawerTab, string>> = {
  event: "Event",
  selection: "Selection",
  hits: "Search hits",
  statistics: "Statistics",
  calls: "Call tree",
};
const LEAST = 120;
/** The height that remains for the timeline. */
const ABOVE = 260;

export function Drawer({ page, hits, selected, links, height }: DrawerProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const tab = page.tab.value;
  const { search, count } = hits.state.value;
  const titleOf = (of: DrawerTab) =>
    of === "hits" && search ? `${TITLES.hits} (${formatCount(count)})` : TITLES[of];
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const index = TABS.indexOf(tab ?? "event");
    const next = (index + step + TABS.length) % TABS.length;
    page.tab.value = TABS[next];
    list.current?.querySelectorAll("button")[next]?.focus();
  };
  return (
    <section
      class={tab === null ? "trace-drawer" : "trace-drawer open"}
      aria-label="Details"
      style={tab === null ? undefined : { height: `min(${height.value}px, 100% - ${ABOVE}px)` }}
    >
      {tab === null ? null : (
        <Splitter
          label="Height of the details"
          size={height}
          least={LEAST}
          most={() => Math.max(innerHeight - ABOVE, LEAST)}
          side="bottom"
        />
      )}
      <div class="trace-tabs">
        <div role="tablist" aria-label="Details" ref={list} onKeyDown={onKeyDown}>
          {TABS.map((choice) => (
            <button
              key={choice}
              id={`${id}-${choice}`}
              type="button"
              role="tab"
              class={choice === tab ? "trace-tab current" : "trace-tab"}
              aria-selected={choice === tab}
              aria-controls={choice === tab ? `${id}-panel` : undefined}
              tabIndex={choice === (tab ?? TABS[0]) ? 0 : -1}
              onClick={() => {
                page.tab.value = choice;
              }}
            >
              {titleOf(choice)}
            </button>
          ))}
        </div>
        <span class="space" />
        {tab === null ? null : (
          <button
            type="button"
            class="icon"
            title="Close the details"
            aria-label="Close the details"
            onClick={() => {
              page.tab.value = null;
            }}
          >
            ✕
          </button>
        )}
      </div>
      {tab === null ? null : (
        <div
          class="trace-panel"
          role="tabpanel"
          id={`${id}-panel`}
          aria-labelledby={`${id}-${tab}`}
        >
          {tab === "event" ? <EventPane page={page} selected={selected} links={links} /> : null}
          {tab === "selection" ? <AggregatePane key="range" page={page} of="range" /> : null}
          {tab === "hits" ? <HitsPane page={page} hits={hits} /> : null}
          {tab === "statistics" ? <AggregatePane key="view" page={page} of="view" /> : null}
          {tab === "calls" ? (
            <Late load={() => import("../calls/calls_pane")}>
              {({ CallsPane }) => <CallsPane page={page} />}
            </Late>
          ) : null}
        </div>
      )}
    </section>
  );
}
