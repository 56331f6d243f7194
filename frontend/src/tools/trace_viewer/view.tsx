/** Trace viewer: every event of the chosen hosts on one time axis. */
import { useSignal } from "@preact/signals";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { ErrorMessage } from "../../widgets/message";
import type { PageProps } from "../tool";
import { rendererOf } from "./create_painter";
import { Drawer } from "./drawer/drawer";
import { EventList } from "./event_list";
import { Hint } from "./hint";
import { createHits } from "./hits";
import { HoverCard } from "./hover_card";
import { Labels } from "./labels";
import { LaneHead } from "./lane_head";
import { NoEvents } from "./no_events";
import { OverviewStrip } from "./overview_strip";
import { keepSelectionInSight, revealRows } from "./reveal";
import { choose, followSelection } from "./selected_event";
import { Splitter } from "./splitter";
import { StatusLine } from "./status_line";
import { TimelineCanvas } from "./timeline_canvas";
import { Toolbar } from "./toolbar";
import "./drawer/drawer.css";
import "./labels.css";
import "./trace.css";
import { usePage } from "./use_page";

/** Another run is another page. */
export function TracePage(props: PageProps<null>) {
  return <TraceView key={props.run} {...props} />;
}

const LABELS_WIDTH = 260;
const LEAST_LABELS = 120;

function TraceView({ run, hosts, view, select, warn, links }: PageProps<null>) {
  const { page, loading, retry } = usePage({ run, hosts, view, select, warn });
  const { model } = page;
  const hits = useMemo(() => createHits(page), [page]);
  const selected = useMemo(() => followSelection(page), [page]);
  useEffect(() => hits.dispose, [hits]);
  useEffect(() => selected.dispose, [selected]);
  useEffect(
    () =>
      hits.state.subscribe(({ hits: found, isLoading }) => {
        if (isLoading || found.length === 0) return;
        if (page.isRangeWanted.current) {
          // Tracks that come later lie above: until then it is done anew with them.
          page.isRangeWanted.current = loading.text.peek() !== "";
          void hits.mainInView().then((mains) => revealRows(model, mains));
        }
        if (!page.isHitWanted.current) return;
        page.isHitWanted.current = false;
        void hits.near(1).then((hit) => choose(page, hit ?? found[0], hit ?? found[0]));
      }),
    [page, model, loading, hits],
  );
  const canvas = useRef<HTMLDivElement>(null);
  const labelsWidth = useSignal(LABELS_WIDTH);
  const drawerHeight = useSignal(Math.max(180, Math.min(Math.round(innerHeight * 0.3), 320)));

  useEffect(() => keepSelectionInSight(model), [model]);
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

  if (loading.error.value !== null)
    return <ErrorMessage error={loading.error.value} retry={retry} />;
  const groups = model.groups.value;
  const isEmpty = groups.length === 0;
  if (!isEmpty && groups.every(({ sections }) => sections.length === 0))
    return <NoEvents hosts={groups.length} />;
  return (
    <div class="trace" aria-busy={isEmpty} style={{ "--labels": `${labelsWidth.value}px` }}>
      <h1 class="unseen">Trace viewer</h1>
      <Toolbar page={page} hits={hits} />
      <OverviewStrip model={model} />
      <div class="trace-body">
        <div class="trace-side">
          <LaneHead model={model} />
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
          {isEmpty ? (
            <p class="stale-text" role="status">
              {loading.text.value}
            </p>
          ) : page.isList.value ? null : (
            <Hint />
          )}
        </div>
      </div>
      <HoverCard model={model} canvas={canvas} />
      <Drawer page={page} hits={hits} selected={selected} links={links} height={drawerHeight} />
      <StatusLine page={page} loading={loading} />
    </div>
  );
}
