/** The graph viewer: an instruction of a compiled program with its operands and users. */

import { LinkButton } from "../../widgets/controls/buttons";
import type { PageProps } from "../tool";
import { useViewAnswer } from "../view_answer";
import { Downloads } from "./downloads";
import { GraphCard } from "./graph/graph_card";
import "./graph_viewer.css";
import { type ProgramGraph, parseGraph } from "./payload";
import { Pickers } from "./pickers";
import { TextCard } from "./text_card";

const PARAMETERS = [
  "program_id",
  "module_name",
  "program_host",
  "node_name",
  "graph_width",
  "opened",
] as const;

export function GraphPage(props: PageProps<ProgramGraph>) {
  const { title, payload, view, select, ask } = props;
  const answer = useViewAnswer(payload, view, ask, PARAMETERS, parseGraph);
  const { value: graph, isLoading, error } = answer;
  const isText = view.tab === "text";
  /** Another instruction resets the view of the graph. */
  const center = (name: string) => select({ node_name: name, node: null, look: null, tab: null });
  return (
    <div class="page flowing graph-page">
      <header class="page-head">
        <h1>{title}</h1>
        {error === "" ? null : (
          <p class="graph-error" role="alert">
            <span aria-hidden="true">⚠ </span>
            {error.slice(0, 500)}{" "}
            <LinkButton
              onClick={() =>
                select({
                  ...Object.fromEntries(PARAMETERS.map((name) => [name, null])),
                  look: null,
                })
              }
            >
              Back to the op with the most self time
            </LinkButton>
          </p>
        )}
      </header>
      <Pickers graph={graph} ask={ask} select={select} center={center} />
      <div class="graph-tabs" role="tablist" aria-label="Program">
        <Tab label="Graph" isChosen={!isText} choose={() => select({ tab: null })} />
        <Tab label="HLO text" isChosen={isText} choose={() => select({ tab: "text" })} />
        <span class="space" />
        <Downloads graph={graph} run={props.run} hosts={props.hosts} />
      </div>
      {isText ? (
        <TextCard {...props} graph={graph} center={center} />
      ) : (
        <GraphCard {...props} graph={graph} isLoading={isLoading} center={center} />
      )}
    </div>
  );
}

function Tab(props: { label: string; isChosen: boolean; choose: () => void }) {
  return (
    <button
      type="button"
      role="tab"
      class="button"
      aria-selected={props.isChosen}
      onClick={props.choose}
    >
      {props.label}
    </button>
  );
}
