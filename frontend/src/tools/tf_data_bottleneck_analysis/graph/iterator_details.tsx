/** The details of one iterator of the execution, beside the graph. */
import {
  columnScale,
  formatCount,
  formatRatio,
  formatTime,
  NOT_MEASURED,
} from "../../../base/format";
import { ratio } from "../../../base/units";
import { CopyButton } from "../../../widgets/controls/copy_button";
import { DetailsAside } from "../../../widgets/graph/details_aside";
import { Explained } from "../../../widgets/overlays/why";
import { ToolLink } from "../../links/tool_link";
import { TRACE } from "../../links/trace_links";
import type { Links } from "../../tool";
import { AdviceList } from "../advice_list";
import { plainType, workOf } from "../iterators";
import type { CallGraph, IteratorNode, TfDataAdvice } from "../payload";
import { executionPlace, iteratorPlace } from "../trace_places";
import { type GraphTree, heldShare, shareOf } from "./graph_tree";
import { formatStart, LEAST_START } from "./node_shapes";

interface IteratorDetailsProps {
  readonly graph: CallGraph;
  readonly tree: GraphTree;
  readonly node: IteratorNode;
  readonly advice: readonly TfDataAdvice[];
  readonly links: Links;
  readonly close: () => void;
}

const KINDS: Readonly<Record<IteratorNode["kind"], string>> = {
  bottleneck: "Bottleneck",
  critical: "Critical path",
  other: "Not on the critical path",
};

export function IteratorDetails({ graph, tree, node, advice, links, close }: IteratorDetailsProps) {
  const work = workOf(node.type);
  const own = advice.filter(
    (piece) =>
      piece.host === graph.host &&
      piece.pipeline === graph.pipeline &&
      piece.longName === node.longName,
  );
  return (
    <DetailsAside
      class="tf-details"
      title={node.type}
      tag={
        <span class={`tag ${node.kind === "bottleneck" ? "high" : ""}`}>{KINDS[node.kind]}</span>
      }
      close={close}
    >
      {work ? (
        <p>
          {plainType(node.type)} {work}.
        </p>
      ) : null}
      <p class="tf-long-name">
        <code>{node.longName.slice(0, 4000)}</code>{" "}
        <CopyButton text={() => node.longName} label="Copy" title="Copy the long name" />
      </p>
      <p class="finding-links tf-trace-links">
        <Place
          links={links}
          place={iteratorPlace(graph, node)}
          title="Show its events in the trace viewer"
        >
          Show its events in trace
        </Place>
        <Place links={links} place={executionPlace(graph)}>
          Show this execution in trace
        </Place>
      </p>
      <Times tree={tree} node={node} />
      <Parameters node={node} />
      {own.length > 0 ? (
        <>
          <h4>What to do</h4>
          <AdviceList advice={own} />
        </>
      ) : null}
    </DetailsAside>
  );
}

interface PlaceProps {
  readonly links: Links;
  readonly place: ReturnType<typeof executionPlace>;
  readonly title?: string;
  readonly children: string;
}

function Place({ links, place, title, children }: PlaceProps) {
  if (place === null) return null;
  return (
    <ToolLink links={links} tool={TRACE} view={place.view} hosts={place.hosts} title={title}>
      {children}
    </ToolLink>
  );
}

function Times({ tree, node }: { tree: GraphTree; node: IteratorNode }) {
  const { start, total, self, calls, worker, wait, queue, held, iterators } = node;
  const origin = tree.nodes.find(({ parent }) => parent < 0)?.start ?? Number.NaN;
  const share = (us: number) => {
    const value = shareOf(tree, us);
    return Number.isNaN(value) ? "" : `${formatRatio(ratio(value))} of the execution`;
  };
  const scale = columnScale("time", Math.max(start, LEAST_START));
  const rows: readonly (readonly [label: string, value: string, note: string, why: string])[] = [
    [
      "Start time",
      formatStart(start, scale),
      // Stages that work ahead begin before the execution.
      Number.isNaN(start - origin) || start === origin
        ? ""
        : `${formatTime(Math.abs(start - origin) as typeof start)} ${start < origin ? "before" : "into"} the execution`,
      "Start of its first call for this execution, since the recording began",
    ],
    [
      "Total duration",
      formatTime(total),
      share(total),
      "Sum of the durations of all its calls for this execution, on any thread",
    ],
    [
      "Self time",
      formatTime(self),
      share(self),
      "The part of the total duration in which none of the iterators that it calls was working",
    ],
    [
      "Waiting",
      Number.isNaN(wait) ? NOT_MEASURED : formatTime(wait),
      Number.isNaN(wait)
        ? "not sent by the server"
        : wait === 0 && Number.isNaN(worker)
          ? "it has no threads of its own to wait for"
          : "of the self time, for its own threads",
      "The part of the self time in which it waited for its own threads to produce elements",
    ],
    [
      "Waiting for a pool",
      Number.isNaN(queue) ? NOT_MEASURED : formatTime(queue),
      Number.isNaN(queue) ? "not sent by the server" : "of the self time, for a thread",
      "The part of the self time in which its functions were queued in a thread pool, and none of them ran because the threads ran functions of other stages",
    ],
    [
      "Holds up",
      Number.isNaN(held) ? NOT_MEASURED : formatTime(held),
      heldText(tree, node),
      "Its self time, minus its waiting for a pool filled by functions of another stage, plus the waiting of others for a pool filled by its functions",
    ],
    [
      "Worker time",
      Number.isNaN(worker) ? NOT_MEASURED : formatTime(worker),
      Number.isNaN(worker)
        ? "it has no threads of its own, or none were recorded"
        : "on its own threads",
      "The time that its own threads worked for it during the execution, summed over threads, without the iterators that it calls",
    ],
    [
      "Calls",
      Number.isNaN(calls) ? NOT_MEASURED : formatCount(calls),
      "",
      "Calls of it within this execution",
    ],
  ];
  return (
    <dl class="tf-times">
      {rows.map(([label, value, note, why]) => (
        <div key={label}>
          <dt>
            <Explained
              label={label}
              explanation={{
                formula: why,
                unit: label === "Calls" ? "calls" : "time",
                source: "Host events of tf.data iterators.",
              }}
            />
          </dt>
          <dd>
            {value} {note ? <span class="muted">{note}</span> : null}
          </dd>
        </div>
      ))}
      {iterators > 1 ? (
        <div>
          <dt>Copies</dt>
          <dd>
            {formatCount(iterators)} <span class="muted">iterators of this stage, combined</span>
          </dd>
        </div>
      ) : null}
    </dl>
  );
}

const SHOWN = 100;

function Parameters({ node: { parameters } }: { node: IteratorNode }) {
  return (
    <>
      <h4>Parameters</h4>
      {parameters.length === 0 ? (
        <p class="muted">None were recorded.</p>
      ) : (
        <dl class="tf-parameters">
          {parameters.slice(0, SHOWN).map(({ name, value }) => (
            <div key={name}>
              <dt>{name.slice(0, 200)}</dt>
              <dd>{value.slice(0, 2000)}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function heldText(tree: GraphTree, node: IteratorNode): string {
  const share = heldShare(tree, node);
  return Number.isNaN(share) ? "" : `${formatRatio(ratio(share))} of what holds up the execution`;
}
