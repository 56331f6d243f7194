/** The page of one run: created once, and kept in sync with the chosen hosts and the address. */
import { batch, effect, type Signal, signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { cancelled } from "../../../api/errors";
import type { Warning } from "../../../api/types";
import type { View } from "../../../base/url_state";
import type { Select } from "../../tool";
import { clampView } from "../model/view/view_math";
import { type Address, type DrawerTab, readAddress, writeAddress } from "./address";
import { findStep } from "./find_step";
import { followIdle } from "./follow_idle";
import { followLaunchers } from "./follow_launchers";
import { createLoading, type Loading, loadHosts } from "./load";
import { createPage, keepTab, listHitsInView, type Page, withMargins } from "./page";
import { addressOf, applyAddress, keepWithinTrace } from "./page_address";
import type { LoadedHost } from "./show_hosts";

interface PageSetup {
  readonly run: string;
  readonly hosts: readonly string[];
  readonly view: View;
  readonly select: Select;
  readonly warn: (warnings: readonly Warning[]) => void;
}

interface PageState {
  readonly page: Page;
  readonly loading: Loading;
  readonly retry: () => void;
  /** Aborts pending requests. */
  readonly cancel: () => void;
}

/** Browsers refuse addresses that change in every frame. */
const WRITE_MS = 250;
/** Limits how often a file that keeps changing is read. */
const RELOAD_MS = 2000;

export function usePage({ run, hosts, view, select, warn }: PageSetup): PageState {
  const state = useMemo(() => {
    const attempt = signal(0);
    return {
      page: createPage(run),
      loading: createLoading(),
      attempt,
      retry: () => void attempt.value++,
    };
  }, [run]);
  const { page, loading, attempt, retry } = state;
  const kept = useRef(new Map<string, LoadedHost>());
  const ongoing = useRef(new AbortController());
  const cancel = () => {
    ongoing.current.abort();
    batch(() => {
      loading.text.value = "";
      loading.error.value = cancelled();
    });
  };
  const latest = useRef({ view, select });
  latest.current = { view, select };
  // The last known address; null before it was first applied.
  const known = useRef<string | null>(null);
  // The step that the address names, until it is looked up.
  const pendingStep = useRef("");
  const hostsKey = JSON.stringify(hosts);

  // The key is the hosts.
  useEffect(() => {
    const stop = effect(() => {
      attempt.value;
      ongoing.current.abort();
      ongoing.current = new AbortController();
      const { signal: aborted } = ongoing.current;
      const isOpen = () => {
        if (known.current === null) heed(latest.current.view);
      };
      void loadHosts({
        page,
        hosts,
        loadedHosts: kept.current,
        loading,
        opened: isOpen,
        abort: aborted,
      }).then(() => {
        if (aborted.aborted) return;
        // The end of the trace is only known once all hosts are loaded.
        keepWithinTrace(page);
        void findPendingStep(aborted);
      });
    });
    return () => {
      stop();
      ongoing.current.abort();
    };
  }, [page, hostsKey]);

  useEffect(
    () =>
      followIdle(page, () => {
        page.isLaidOut.value = true;
      }),
    [page],
  );
  useEffect(() => followLaunchers(page), [page]);
  // The file has changed: request everything about it again.
  useEffect(() => {
    let reloaded = 0;
    return page.model.stale.subscribe((count) => {
      if (count === 0 || Date.now() - reloaded < RELOAD_MS) return;
      reloaded = Date.now();
      kept.current.clear();
      attempt.value++;
    });
  }, [page]);

  useEffect(() => {
    const stop = loading.warnings.subscribe((warnings) => warn(warnings));
    return () => {
      stop();
      warn([]);
    };
  }, [loading, warn]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const write = () => {
      const patch = writeAddress(addressOf(page));
      // A step is looked up until it is found.
      const { step } = latest.current.view;
      const wanted = page.initialView.peek() ? step : pendingStep.current;
      const entries = { ...patch, step: wanted || null };
      const text = addressKey(entries);
      if (text === known.current) return;
      known.current = text;
      latest.current.select(entries);
    };
    const stop = effect(() => {
      if (!loading.isReady.value) return;
      watch(page);
      clearTimeout(timer);
      timer = setTimeout(write, WRITE_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [page, loading]);

  // The address was changed by a link or by Back.
  const viewKey = addressKey(view);
  useEffect(() => {
    if (known.current === null || viewKey === known.current) return;
    heed(view);
    if (loading.isReady.peek()) keepWithinTrace(page);
    if (view.step) void findPendingStep(new AbortController().signal);
  }, [viewKey]);

  return { page, loading, retry, cancel };

  async function findPendingStep(abort: AbortSignal): Promise<void> {
    const label = pendingStep.current || (latest.current.view.step ?? "");
    await goToStep(page, label, abort);
    if (!abort.aborted && pendingStep.current === label) pendingStep.current = "";
  }

  function heed(of: View): void {
    const address = readAddress(of);
    const isFirst = known.current === null;
    known.current = addressKey(of);
    pendingStep.current = of.step ?? "";
    // A link with a search is about its hits.
    page.isHitWanted.current = !!of.q && !of.event && !of.from_ms;
    // The page's own addresses specify what is open and selected; links from other pages do not.
    page.isRangeWanted.current = !!of.q && !of.event && !!of.from_ms && !of.fold && !of.hide;
    batch(() => {
      applyAddress(page, isFirst ? withTyped(page, address) : address);
      if (page.isRangeWanted.current) listHitsInView(page);
    });
    page.tab.value = address.tab ?? tabFor(address);
  }
}

/** The tab for the contents of an address that names no tab. */
function tabFor({ search, event, range }: Address): DrawerTab | null {
  if (search) return "hits";
  if (event) return "event";
  return range ? "selection" : null;
}

/** Keeps what was typed while the hosts were loading. */
function withTyped({ model }: Page, address: Address): Address {
  return {
    ...address,
    search: address.search ?? model.search.peek(),
    trackFilter: address.trackFilter || model.arrangement.peek().trackFilter,
  };
}

/** Goes to the step that an address names and selects it. Does nothing if it does not exist. */
async function goToStep(page: Page, label: string, abort: AbortSignal): Promise<void> {
  if (label === "") return;
  const { model } = page;
  const hosts = model.hosts.peek();
  const step = await findStep(page.run, hosts, label, abort).catch(() => null);
  if (step === null || abort.aborted) return;
  const { host, part, event } = step;
  const from = event.startPs + host.offsetPs;
  // The drawer settings of a link apply to the step that it names.
  const select = () => {
    const { row, startPs, durationPs, name } = event;
    if (page.initialView.peek() === model.view.peek()) {
      const span = withMargins({ from, to: from + Math.max(durationPs, 1) });
      model.view.value = clampView(span, model.extent.peek());
    }
    page.initialView.value = null;
    model.selection.value = {
      host: host.at,
      part,
      id: event.id,
      place: { row, startPs, durationPs, name },
    };
    page.tab.value ??= "event";
  };
  keepTab(page, () => batch(select));
}

/** Subscribes to everything in the address, without computing the address in every frame. */
function watch({ model, tab, by, calls, isList, initialView: restingView }: Page): void {
  const { view, selection, range, marks, search, filter, color, tool, arrangement, hosts } = model;
  const watched: readonly Signal<unknown>[] = [
    view,
    selection,
    range,
    marks,
    search,
    filter,
    color,
    tool,
    arrangement,
    hosts,
    tab,
    by,
    calls,
    isList,
    restingView,
  ];
  for (const signal of watched) signal.value;
}

const OWN = Object.keys(writeAddress(readAddress({})));

/** Equal for addresses that show the same. */
function addressKey(view: Readonly<Record<string, string | null>>): string {
  return JSON.stringify(OWN.map((name) => view[name] ?? null));
}
