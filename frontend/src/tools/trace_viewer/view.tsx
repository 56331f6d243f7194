/** Trace viewer: every event of the chosen hosts on one time axis. */
import { useSignal } from "@preact/signals";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { describeProblem, isUnreachable } from "../../api/errors";
import { Checked } from "../../widgets/checked";
import { Doing, ErrorMessage } from "../../widgets/text/message";
import type { PageProps } from "../tool";
import { rendererOf } from "./canvas/create_painter";
import { Drawer } from "./drawer/drawer";
import { Hint } from "./frame/hint";
import { Legend } from "./frame/legend";
import { NoEvents } from "./frame/no_events";
import { OverviewStrip } from "./frame/overview_strip";
import { Splitter } from "./frame/splitter";
import { StatusLine } from "./frame/status_line";
import { Toolbar } from "./frame/toolbar";
import { Labels } from "./lanes/labels";
import { LaneHead } from "./lanes/lane_head";
import { EventList } from "./list/event_list";
import { firstHosts } from "./model/first_hosts";
import { followPlaces } from "./model/view/view_trail";
import { readAddress } from "./page/address";
import { keepSelectionInSight, revealRows } from "./page/selection/reveal";
import { choose, followSelection } from "./page/selection/selected_event";
import { HoverCard } from "./pointer/hover_card";
import { TimelineCanvas } from "./pointer/timeline_canvas";
import { createSearchResults } from "./search/search_results";
import "./drawer/drawer.css";
import "./lanes/labels.css";
import "./trace.css";
import "./frame/toolbar.css";
import { usePage } from "./page/use_page";

/** A different run gets a new page. */
export function TracePage(props: PageProps<null>) {
  return <TraceView key={props.run} {...props} />;
}

const LABELS_WIDTH = 260;
const LEAST_LABELS = 120;

function TraceView({ title, run, hosts: chosen, view, select, warn, links }: PageProps<null>) {
  const hosts = firstHosts(chosen, readAddress(view).event?.host);
  const { page, loading, retry, cancel } = usePage({ run, hosts, view, select, warn });
  const { model } = page;
  const hits = useMemo(() => createSearchResults(page), [page]);
  const selected = useMemo(() => followSelection(page), [page]);
  useEffect(() => hits.dispose, [hits]);
  useEffect(() => selected.dispose, [selected]);
  useEffect(
    () =>
      hits.state.subscribe(({ hits: listed, isLoading }) => {
        if (isLoading || listed.length === 0) return;
        if (page.isRangeWanted.current) {
          // Tracks that arrive later may be above, so this is repeated once they do.
          page.isRangeWanted.current = loading.text.peek() !== "";
          void hits.mainInView().then((mains) => revealRows(model, mains));
        }
        if (!page.isHitWanted.current) return;
        page.isHitWanted.current = false;
        void hits.near(1).then((hit) => choose(page, hit ?? listed[0], hit ?? listed[0]));
      }),
    [page, model, loading, hits],
  );
  const canvas = useRef<HTMLDivElement>(null);
  const labelsWidth = useSignal(LABELS_WIDTH);
  const drawerHeight = useSignal(Math.max(180, Math.min(Math.round(innerHeight * 0.3), 320)));

  useEffect(() => keepSelectionInSight(model), [model]);
  useEffect(() => followPlaces(model), [model]);
  useEffect(
    () =>
      model.rangeDrawn.subscribe((times) => {
        if (times > 0) page.tab.value = "selection";
      }),
    [page, model],
  );

  const list = useCallback(
    (key: string) => {
      page.listed.value = key;
      page.isList.value = true;
    },
    [page],
  );

  const error = loading.error.value;
  if (error !== null)
    return (
      <ErrorMessage error={error} retry={retry}>
        {describeProblem(error).isFailure && !isUnreachable(error) ? <Checked run={run} /> : null}
      </ErrorMessage>
    );
  const groups = model.groups.value;
  const isEmpty = groups.length === 0;
  if (!isEmpty && groups.every(({ sections }) => sections.length === 0))
    return <NoEvents hosts={groups.length} />;
  return (
    <div class="trace" aria-busy={isEmpty} style={{ "--labels": `${labelsWidth.value}px` }}>
      <h1 class="unseen">{title}</h1>
      <Toolbar page={page} hits={hits} />
      <OverviewStrip model={model} />
      <div class={page.isLaidOut.value || isEmpty ? "trace-body" : "trace-body unsettled"}>
        <div class="trace-side">
          <LaneHead page={page} />
          <Labels model={model} isAlone={page.isList.value} list={list} />
        </div>
        <Splitter
          label="Width of the labels"
          size={labelsWidth}
          least={LEAST_LABELS}
          most={() => Math.max(Math.round(innerWidth / 2), LEAST_LABELS)}
          side="left"
        />
        <div class="trace-canvas" ref={canvas}>
          {!page.isList.value ? (
            <TimelineCanvas model={model} renderer={rendererOf(view.renderer)} />
          ) : isEmpty ? null : (
            <EventList page={page} hits={hits} />
          )}
          {isEmpty ? <Doing class="stale-text" text={loading.text.value} cancel={cancel} /> : null}
        </div>
      </div>
      {page.isList.value ? null : <Hint />}
      <HoverCard model={model} canvas={canvas} />
      <Drawer page={page} hits={hits} selected={selected} links={links} height={drawerHeight} />
      <Legend model={model} />
      <StatusLine page={page} loading={loading} chosen={chosen.length} />
    </div>
  );
}
