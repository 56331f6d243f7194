/** The shell: a bar, a banner if there are warnings, and the page. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type DataRequest, fetchData } from "../api/client";
import { ApiError, isUnreachable } from "../api/errors";
import type { Run, Session, SessionTool, Warning } from "../api/types";
import { sentenceCase } from "../base/format";
import { bindKeys } from "../base/keys";
import { patchView, type View } from "../base/url_state";
import { type CaptureStatus, isFinal } from "../capture/types";
import { useCapture } from "../capture/use_capture";
import type { Ask, Links } from "../tools/tool";
import { TOOLS } from "../tools/tools";
import { Checked } from "../widgets/checked";
import { Late } from "../widgets/late";
import { LateDialog } from "../widgets/overlays/late_dialog";
import { Banner } from "../widgets/text/banner";
import { ErrorMessage, Skeleton } from "../widgets/text/message";
import { BarButtons, type ShellOverlay, shellKeys } from "./bar_buttons";
import { CommandPalette } from "./command_palette";
import { PageView } from "./page_view";
import { HostPicker, RunPicker } from "./pickers";
import { ProgressLine } from "./progress_line";
import type { Navigation } from "./state/navigation";
import { ownOptions, sharedOptions } from "./state/options";
import type { Command, RunSearch } from "./state/run_search";
import { useLogdir } from "./state/use_logdir";
import { usePayload } from "./state/use_payload";
import { useProgress } from "./state/use_progress";
import { useSession, useTools } from "./state/use_session";
import { pageWarnings } from "./state/warnings";
import type { ToolTab } from "./tab_room";
import { ToolTabs } from "./tool_tabs";
import { Unreachable } from "./unreachable";

const TRACE = "trace_viewer";

export function App({ navigation }: { navigation: Navigation }) {
  const { go, select } = navigation;
  const place = navigation.place.value;
  const [overlay, setOverlay] = useState<ShellOverlay>(null);
  const [attempt, setAttempt] = useState(0);
  const [reported, warn] = useState<readonly Warning[]>([]);
  const { logdir, runs, fresh, error: logdirError, markSeen, refresh } = useLogdir();
  const capture = useCapture(({ run, written, workers }: CaptureStatus) => {
    // A partly failed capture stays in the dialog, so that its errors can be read.
    if (written === workers.length) openCaptured(run);
    else if (run === place.run) retry();
    else refresh();
  });
  // A run that is still being captured is not opened automatically.
  const growing =
    capture.status !== null && !isFinal(capture.status.state) ? capture.status.run : "";
  const newest = runs.find((run) => run.name !== growing)?.name;
  const [pagesBuilt, setPagesBuilt] = useState(0);
  const allTools = useTools();
  const { session, error: sessionError } = useSession(place.run, attempt, pagesBuilt);
  const hasRuns = place.run !== "" || newest !== undefined || logdir === null;
  const openTool = (tool: string) => navigation.openTool(tool, sharedOptions(place, tool));
  // Before the server has looked at the run, any page may have data.
  const tools = session?.tools ?? allTools;
  const tabs = toolTabs(tools, navigation, session !== null || !hasRuns);
  const nameOf = (tool: string) => tools.find(({ name }) => name === tool);
  const pageTitle = nameOf(place.tool)?.label ?? "";
  const sessionTool = session?.tools.find((tool) => tool.name === place.tool);
  const isSingle = sessionTool?.isSingleHost ?? false;
  const hosts = validHosts(session, place.hosts, isSingle);
  const readable = useMemo(() => readableHosts(session, hosts), [session, hosts?.join("\n")]);
  const request: DataRequest | null =
    session && TOOLS[place.tool] && sessionTool?.isAvailable !== false
      ? { run: place.run, tool: place.tool, hosts, options: ownOptions(place) }
      : null;
  const state = usePayload(request, attempt);
  const isListing = place.run !== "" && !session && !sessionError;
  const isPageLoading = state.isLoading && TOOLS[place.tool]?.asksItself !== true;
  const progress = useProgress(
    place.run,
    place.tool || tabs[0]?.name || TRACE,
    isListing || isPageLoading,
  );
  const doing = sentenceCase(progress?.text ?? "");
  const lost = [state.error, sessionError, logdirError].find(isUnreachable);
  // Each page that the server builds may show that other pages have no data.
  const isNothing = state.error instanceof ApiError && state.error.code === "no_data";
  useEffect(() => {
    if (isNothing || state.loaded) setPagesBuilt((count) => count + 1);
  }, [isNothing, state.loaded]);

  // Without a run or a page in the address, the newest run and its first page are opened.
  useEffect(() => {
    if (place.run === "" && newest !== undefined) go({ run: newest }, true);
  }, [place.run, newest, go]);
  const first = tabs.find((tab) => tab.reason === null)?.name;
  useEffect(() => {
    if (session && place.tool === "" && first) go({ tool: first }, true);
  }, [session, place.tool, first, go]);
  useEffect(() => {
    document.title = [pageTitle, place.run, "tbprof"].filter(Boolean).join(" · ");
  }, [pageTitle, place.run]);
  useEffect(() => bindKeys(shellKeys(setOverlay)), []);

  useEffect(() => markSeen(place.run), [place.run, markSeen]);

  const withShared = (tool: string, view: View) => ({
    ...patchView({}, sharedOptions(place, tool)),
    ...view,
  });
  const links: Links = {
    reason: (tool) => {
      const tab = tabs.find((candidate) => candidate.name === tool);
      return tab ? tab.reason : "There is no such page.";
    },
    title: (tool) => nameOf(tool)?.label ?? tool,
    short: (tool) => nameOf(tool)?.short ?? tool,
    address: (tool, view, hosts) =>
      navigation.addressOf({ tool, view: withShared(tool, view), ...(hosts && { hosts }) }),
    open: (tool, view, hosts) =>
      go({ tool, view: withShared(tool, view), ...(hosts && { hosts }) }),
  };
  const requestKey = JSON.stringify(request);
  // `requestKey` stands for `request`.
  const ask = useCallback<Ask>(
    async (parameters, signal, route) => {
      if (request === null) throw new Error("no run is open");
      const options = { ...request.options, ...parameters };
      return fetchData({ ...request, options }, signal, route);
    },
    [requestKey],
  );
  const retry = useCallback(() => {
    refresh();
    setAttempt((count) => count + 1);
  }, [refresh]);
  const chooseRun = (run: string) => go({ run });
  const openCaptured = (run: string) => {
    // The run may be open already: it appears as soon as its first host is written.
    if (run === place.run) retry();
    else refresh();
    setOverlay(null);
    go({ run, tool: "", hosts: null, view: {} });
  };
  const warnings = useMemo(
    () =>
      pageWarnings(session, [
        ...(state.loaded ? state.loaded.tool.warnings(state.loaded.payload) : []),
        ...reported,
      ]),
    [session, state.loaded, reported],
  );
  const commands = (): Command[] => [
    ...tabs
      .filter((tab) => tab.reason === null)
      .map((tab) => ({
        kind: "Page",
        name: [tab.title, ...tab.also].join(", "),
        run: () => openTool(tab.name),
      })),
    ...(capture.config?.off === ""
      ? [{ kind: "Action", name: "Capture profile", run: () => setOverlay("capture") }]
      : []),
    ...runs.map((run) => ({ kind: "Run", name: run.name, run: () => chooseRun(run.name) })),
    ...(session?.hosts ?? []).map((host) => ({
      kind: "Host",
      name: host.name,
      run: () => go({ hosts: [host.name] }),
    })),
    ...(state.loaded?.tool.finds(state.loaded.payload, select) ?? []).flatMap((find) =>
      find.names.map((name) => ({ kind: find.kind, name, run: () => find.choose(name) })),
    ),
  ];

  const search = useRef<Promise<RunSearch> | null>(null);
  useEffect(() => {
    search.current = null;
  }, [overlay]);
  const find: RunSearch = async (query, signal, report) => {
    if (!session) return;
    search.current ??= import("./state/run_search").then(({ createRunSearch }) =>
      createRunSearch({
        run: place.run,
        tools: tabs
          .filter(({ name, reason }) => reason === null && name !== state.loaded?.name)
          .map(({ name }) => name)
          .concat(state.loaded?.name === TRACE ? [TRACE] : []),
        hosts: readable,
        open: (tool, view) => go({ tool, view }),
      }),
    );
    return (await search.current)(query, signal, report);
  };

  return (
    <>
      <header class="bar">
        <span class="product">tbprof</span>
        <RunPicker runs={runs} fresh={fresh} run={place.run} choose={chooseRun} />
        <HostPicker
          session={session}
          hosts={hosts}
          isSingle={isSingle}
          choose={(chosen) => go({ hosts: chosen })}
        />
        <ToolTabs tabs={tabs} current={place.tool} open={openTool} />
        <BarButtons open={setOverlay} capture={capture} />
        <ProgressLine
          isActive={state.isLoading || isListing || logdir === null}
          share={progress?.share ?? 0}
        />
      </header>
      {lost && state.loaded ? <Unreachable error={lost} retry={retry} /> : null}
      <Banner {...warnings} />
      {renderBody()}
      {overlay === "help" ? (
        <LateDialog title="Help" close={() => setOverlay(null)} load={() => import("./help")}>
          {({ Help }) => <Help Page={state.loaded?.tool.Help} close={() => setOverlay(null)} />}
        </LateDialog>
      ) : null}
      {overlay === "capture" ? (
        <LateDialog
          title="Capture profile"
          close={() => setOverlay(null)}
          load={() => import("../capture/capture_dialog")}
        >
          {({ CaptureDialog }) => (
            <CaptureDialog model={capture} close={() => setOverlay(null)} openRun={openCaptured} />
          )}
        </LateDialog>
      ) : null}
      {overlay === "palette" ? (
        <CommandPalette commands={commands} find={find} close={() => setOverlay(null)} />
      ) : null}
    </>
  );

  function renderBody() {
    if (place.run === "") {
      if (logdirError && !logdir)
        return (
          <Main>
            <ErrorMessage error={logdirError} retry={retry} />
          </Main>
        );
      if (logdir && newest === undefined)
        return (
          <Late load={() => import("./empty_logdir")}>
            {({ EmptyLogdir }) => (
              <EmptyLogdir logdir={logdir} capture={() => setOverlay("capture")} />
            )}
          </Late>
        );
      return (
        <Main>
          <Skeleton title={pageTitle} text="" />
        </Main>
      );
    }
    if (sessionError && !session)
      return (
        <Main>
          <ErrorMessage error={sessionError} retry={retry}>
            <OtherRuns runs={runs} addressOf={navigation.addressOf} />
            {isUnreachable(sessionError) ? null : <Checked run="" />}
          </ErrorMessage>
        </Main>
      );
    if (session && place.tool === "" && !first) {
      return (
        <Main>
          <Late load={() => import("./nothing")}>
            {({ Nothing }) => (
              <Nothing run={place.run} hosts={session.hosts} tabs={tabs} retry={retry} />
            )}
          </Late>
        </Main>
      );
    }
    if (place.tool === "" || !session)
      return (
        <Main>
          <Skeleton title={pageTitle} outline={TOOLS[place.tool]?.outline} text={doing} />
        </Main>
      );
    return (
      <Main>
        <PageView
          tool={place.tool}
          title={pageTitle || place.tool}
          session={sessionTool}
          state={state}
          doing={doing}
          view={place.view}
          select={select}
          links={links}
          ask={ask}
          fileName={`${place.run}_${hosts === null ? "all" : hosts.join("_")}`}
          run={place.run}
          hosts={readable}
          warn={warn}
          retry={retry}
          others={tabs.filter((tab) => tab.reason === null && tab.name !== place.tool)}
          openTool={openTool}
        />
      </Main>
    );
  }
}

const LISTED = 12;

/** Links to other runs, for when the run in the address no longer exists. */
function OtherRuns({
  runs,
  addressOf,
}: {
  runs: readonly Run[];
  addressOf: Navigation["addressOf"];
}) {
  if (runs.length === 0) return null;
  return (
    <>
      <p>
        {runs.length > LISTED ? `The ${LISTED} newest runs in the logdir:` : "Runs in the logdir:"}
      </p>
      <ul>
        {runs.slice(0, LISTED).map(({ name }) => (
          <li key={name}>
            <a href={addressOf({ run: name, hosts: null, view: {} })}>{name}</a>
          </li>
        ))}
      </ul>
    </>
  );
}

function Main({ children }: { children: preact.ComponentChildren }) {
  return <main>{children}</main>;
}

function toolTabs(
  tools: readonly SessionTool[],
  navigation: Navigation,
  isKnown: boolean,
): ToolTab[] {
  return tools.map(({ name, label, short, also, isDetail, isAvailable, reason, hint }) => ({
    name,
    short,
    title: label,
    also,
    isDetail,
    address: navigation.addressOf({
      tool: name,
      view: patchView({}, sharedOptions(navigation.place.value, name)),
    }),
    reason: TOOLS[name]
      ? isAvailable || !isKnown
        ? null
        : reason || "This run has no data for this page."
      : "The loaded frontend is older than the server and lacks this page. Reload to get it.",
    hint,
  }));
}

/** The chosen hosts that can be read, in the run's order. */
function readableHosts(session: Session | null, chosen: readonly string[] | null): string[] {
  const hosts = session?.hosts.filter((host) => host.error === null) ?? [];
  return hosts.map((host) => host.name).filter((name) => chosen?.includes(name) ?? true);
}

/** The chosen hosts that the run has; null, which means all, if none of them is left. */
function validHosts(
  session: Session | null,
  chosen: readonly string[] | null,
  isSingle: boolean,
): readonly string[] | null {
  const names = session?.hosts.map((host) => host.name) ?? [];
  const valid = chosen?.filter((name) => names.includes(name)) ?? [];
  if (isSingle) return names.length > 0 ? [valid[0] ?? names[0]] : null;
  return valid.length === 0 || valid.length === names.length ? null : valid;
}
