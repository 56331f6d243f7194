/** The programs page: the time of ops in compiled programs, and how much of it is wasted. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { describeProblem } from "../../api/errors";
import { LinkButton, Switch } from "../../widgets/controls/buttons";
import { Card } from "../../widgets/text/card";
import type { Ask, PageProps } from "../tool";
import { fetchAllRows } from "./all_rows";
import { Details } from "./details";
import { OpIcicle } from "./op_icicle";
import { type Profile, textOf } from "./payload";
import { findOp, GROUPINGS, makeOpTree, type TreeGrouping } from "./tree/op_tree";
import "./op_profile.css";
import { SummaryLine } from "./summary_line";
import { nodeKey } from "./tree/tree_rows";
import { TreeTable } from "./tree/tree_table";

const LABELS: Readonly<Record<TreeGrouping, string>> = {
  program: "Program",
  category: "Category",
  scope: "Framework op",
  source: "Source line",
};

export function ProgramsPage(props: PageProps<Profile>) {
  const { title, view, select, ask, links } = props;
  const { profile, loadAll, isLoading, error } = useAllRows(props.payload, ask);
  const grouping = GROUPINGS.find((candidate) => candidate === view.group) ?? "program";
  const hasIdle = view.idle === "1";
  const tree = useMemo(() => makeOpTree(profile, grouping, hasIdle), [profile, grouping, hasIdle]);
  // Only selected ops are stored in the address.
  const [chosen, setChosen] = useState<string | null>(null);
  const [zoomed, setZoomed] = useState("");
  const keys = useMemo(() => {
    const nodes = new Map<string, number>();
    for (let node = 0; node < tree.label.length; node++) nodes.set(nodeKey(tree, node), node);
    return nodes;
  }, [tree]);
  const isNamed = Boolean(view.program_id || view.node_name);
  const named = useMemo(
    () => (isNamed ? findOp(tree, profile, view.program_id ?? "", view.node_name ?? "") : -1),
    [tree, profile, view.program_id, view.node_name],
  );
  // Links may refer to ops that are not loaded yet.
  const isMissing = isNamed && named < 0 && profile.rows.row.includes(-1);
  useEffect(() => {
    if (isMissing) loadAll();
  }, [isMissing]);
  const selected = chosen === null ? named : (keys.get(chosen) ?? -1);
  const choose = (node: number) => {
    const place = tree.place[node];
    setChosen(nodeKey(tree, node));
    if (tree.kind[node] === "op")
      select({
        program_id: textOf(profile, profile.rows.programId[place]) || null,
        node_name: textOf(profile, profile.rows.name[place]),
      });
    else select({ program_id: null, node_name: null });
  };
  useEffect(() => setChosen(null), [view.program_id, view.node_name, grouping]);
  const focus = keys.get(zoomed) ?? 0;
  return (
    <div class="page programs-page">
      <header class="page-head">
        <h1>{title}</h1>
        <GroupingChoice value={grouping} choose={(group) => select({ group })} />
        <Switch isOn={hasIdle} turn={(isOn) => select({ idle: isOn ? "1" : null })}>
          Include idle time
        </Switch>
        {error === "" ? null : (
          <p class="program-error" role="alert">
            {error}
          </p>
        )}
      </header>
      <SummaryLine profile={profile} />
      <Card
        title="Where the time goes"
        class="program-time"
        head={
          <>
            <span class="muted">
              width: time; bar at the bottom: share of the peak that is used
            </span>
            <span class="space" />
            {focus > 0 ? <LinkButton onClick={() => setZoomed("")}>Show all</LinkButton> : null}
          </>
        }
      >
        <OpIcicle
          tree={tree}
          focus={focus}
          selected={selected}
          select={choose}
          zoom={(node) => setZoomed(node === focus ? "" : nodeKey(tree, node))}
        />
      </Card>
      <div class="program-parts">
        <TreeTable
          tree={tree}
          selected={selected}
          choose={choose}
          sort={view.sort ?? ""}
          select={select}
        />
        <Details {...{ profile, tree, ask, links, loadAll, isLoading }} node={selected} />
      </div>
    </div>
  );
}

interface GroupingChoiceProps {
  readonly value: TreeGrouping;
  readonly choose: (grouping: TreeGrouping | null) => void;
}

function GroupingChoice({ value, choose }: GroupingChoiceProps) {
  return (
    <fieldset class="program-grouping">
      <legend class="unseen">Group by</legend>
      <span class="muted" aria-hidden="true">
        Group by
      </span>
      {GROUPINGS.map((grouping) => (
        <label key={grouping} class="switch">
          <input
            type="radio"
            name="program-grouping"
            checked={grouping === value}
            onChange={() => choose(grouping === "program" ? null : grouping)}
          />
          {LABELS[grouping]}
        </label>
      ))}
    </fieldset>
  );
}

/** The profile; with all instructions after they were requested. */
function useAllRows(first: Profile, ask: Ask) {
  const [whole, setWhole] = useState<Profile | null>(null);
  const [isLoading, setIsLoading] = useState(false);
  const [error, setError] = useState("");
  useEffect(() => {
    setWhole(null);
    setError("");
  }, [first]);
  const loadAll = () => {
    setIsLoading(true);
    setError("");
    fetchAllRows(ask, new AbortController().signal)
      .then(setWhole)
      .catch((reason: unknown) => setError(describeProblem(reason).message))
      .finally(() => setIsLoading(false));
  };
  return { profile: whole ?? first, loadAll, isLoading, error };
}
