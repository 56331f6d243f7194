/** The time of nested events in a range, as a flame graph or as a tree in a table. */
import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { toTsv } from "../../../base/csv";
import { plural } from "../../../base/format";
import { SmallButton } from "../../../widgets/controls/buttons";
import { CopyButton } from "../../../widgets/controls/copy_button";
import { shareOf } from "../call_tree/call_facts";
import { callTracks, describeTracks } from "../call_tree/call_tracks";
import { type CallTree, callName, findPath, pathKey } from "../call_tree/call_tree";
import { loadCalls } from "../call_tree/load_calls";
import { searchCalls } from "../call_tree/search_calls";
import { NoAnswer, useAnswer } from "../drawer/answer";
import { FlameGraph } from "../flame/flame_graph";
import { formatPs } from "../model/time";
import type { Span } from "../model/types";
import type { CallsView } from "../page/address";
import type { Page } from "../page/page";
import { isStale } from "../protocol/api";
import { CallTable } from "./call_table";
import { showLongest } from "./show_call";
import "./calls.css";

interface Loaded {
  readonly span: Span;
  /** The tracks of the calls, in words. */
  readonly of: string;
  readonly isRange: boolean;
  /** null if no track has nested calls. */
  readonly tree: CallTree | null;
}

const PS_PER_US = 1e6;

/** The calls of the selected range, or of the view. */
export function CallsPane({ page }: { page: Page }) {
  const { model } = page;
  const { value, error, isLoading } = useAnswer<Loaded>(page, () => {
    const range = model.range.value;
    const isRange = range !== null;
    const span = isRange ? { from: range.from, to: range.to } : model.view.value;
    const { isBottomUp, isByTrack } = page.calls.value;
    const tracks = callTracks(page, range?.tracks ?? null);
    const order = isBottomUp ? "bottom_up" : "top_down";
    return async (signal) => {
      const tree = await loadCalls(page, span, tracks, order, isByTrack, signal);
      return { span, of: describeTracks(tracks), isRange, tree };
    };
  });
  if (error.value !== null) return <NoAnswer error={error.value} />;
  if (value.value === null) return <p class="trace-note muted">Summing up calls…</p>;
  return <Calls page={page} loaded={value.value} isLoading={isLoading.value} />;
}

interface CallsProps {
  readonly page: Page;
  readonly loaded: Loaded;
  readonly isLoading: boolean;
}

function Calls({ page, loaded, isLoading }: CallsProps) {
  const { tree, span, of, isRange } = loaded;
  const text = useSignal("");
  // Identified by names, so that the same node of another range stays chosen.
  const focus = useSignal("");
  const selected = useSignal<string | null>(null);
  const abort = useRef(new AbortController());
  const search = useMemo(() => tree && searchCalls(tree, text.value), [tree, text.value]);
  const focusNode = tree ? Math.max(findPath(tree, focus.value), 0) : 0;
  const selectedNode = tree && selected.value !== null ? findPath(tree, selected.value) : -1;
  const select = (node: number) => {
    if (!tree) return;
    selected.value = pathKey(tree, node);
    abort.current.abort();
    abort.current = new AbortController();
    const { signal } = abort.current;
    void showLongest(page, tree, node, signal).catch((caught: unknown) => {
      if (signal.aborted) return;
      if (isStale(caught)) page.model.stale.value++;
      else page.model.error.value = caught;
    });
  };
  return (
    <>
      <div class="trace-sums" aria-busy={isLoading}>
        <Choice
          legend="Show as"
          name="trace-calls-as"
          labels={["Flame graph", "Tree"]}
          isSecond={page.calls.value.isTree}
          choose={(isTree) => change(page, { isTree })}
        />
        <Choice
          legend="Order"
          name="trace-calls-order"
          labels={["Top down", "Bottom up"]}
          isSecond={page.calls.value.isBottomUp}
          choose={(isBottomUp) => change(page, { isBottomUp })}
        />
        <label class="trace-calls-check">
          <input
            type="checkbox"
            checked={page.calls.value.isByTrack}
            onChange={(event) => change(page, { isByTrack: event.currentTarget.checked })}
          />
          By track
        </label>
        <input
          class="trace-calls-search"
          type="text"
          aria-label="Search calls"
          placeholder="Search calls"
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
        {tree && search ? (
          <span role="status">
            {plural(search.matches, "match", "matches")}, {shareOf(tree, search.weightPs)}
          </span>
        ) : null}
        <span>
          <b>{plural(tree?.count[0] ?? 0, "event")}</b> in the {formatPs(span.to - span.from)}{" "}
          {isRange ? "selected" : "in view"}{" "}
          <span
            class="muted"
            title="Steps, programs, scopes and ops of devices repeat work that other tracks show. Asynchronous tracks have no call stack."
          >
            on {of}
          </span>
        </span>
        {tree && tree.overlapPs > 0 ? (
          <span
            class="muted"
            title="If events of a track overlap without nesting, the later one counts from the end of the earlier one"
          >
            {formatPs(tree.overlapPs)} overlap
          </span>
        ) : null}
        <span class="space" />
        {focusNode > 0 && !page.calls.value.isTree ? (
          <SmallButton
            onClick={() => {
              focus.value = "";
            }}
          >
            Show all calls
          </SmallButton>
        ) : null}
        {tree ? (
          <CopyButton
            text={() => treeText(tree)}
            label="Copy tree"
            title="Copy tree as text, with times in µs"
          />
        ) : null}
      </div>
      {tree === null || tree.parent.length < 2 ? (
        <p class="trace-note muted">
          {tree === null
            ? "No track in this range has nested events: asynchronous and derived tracks are left out."
            : "There are no events in this range."}
        </p>
      ) : page.calls.value.isTree ? (
        <CallTable tree={tree} search={search} selected={selectedNode} select={select} />
      ) : (
        <FlameGraph
          tree={tree}
          search={search}
          colorBy={page.model.color.value}
          categories={page.model.hosts.value[0]?.events.categories ?? []}
          focus={focusNode}
          selected={selectedNode}
          select={select}
          zoom={(node) => {
            focus.value = pathKey(tree, node === focusNode ? 0 : node);
          }}
        />
      )}
    </>
  );
}

function change({ calls }: Page, patch: Partial<CallsView>): void {
  calls.value = { ...calls.peek(), ...patch };
}

interface ChoiceProps {
  readonly legend: string;
  readonly name: string;
  readonly labels: readonly [first: string, second: string];
  readonly isSecond: boolean;
  readonly choose: (isSecond: boolean) => void;
}

function Choice({ legend, name, labels, isSecond, choose }: ChoiceProps) {
  return (
    <fieldset class="trace-by">
      <legend class="unseen">{legend}</legend>
      {labels.map((label, index) => (
        <label key={label}>
          <input
            type="radio"
            name={name}
            checked={isSecond === (index === 1)}
            onChange={() => choose(index === 1)}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** All nodes, indented below their parents. */
function treeText(tree: CallTree): string {
  const head = ["Name", "Total (µs)", "Self (µs)", "Calls", "Longest (µs)"];
  const rows: (string | number)[][] = [];
  const waiting = [0];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    rows.push([
      `${"  ".repeat(tree.depth[node])}${callName(tree, node)}`,
      microseconds(tree.totalPs[node]),
      microseconds(tree.selfPs[node]),
      tree.count[node],
      microseconds(tree.longestPs[node]),
    ]);
    for (let index = tree.childFirst[node + 1] - 1; index >= tree.childFirst[node]; index--)
      waiting.push(tree.child[index]);
  }
  return toTsv([head, ...rows]);
}

/** "" if unknown. */
function microseconds(ps: number): number | string {
  return ps >= 0 ? ps / PS_PER_US : "";
}
