/** The input pipeline graph: one execution, from its sources to the iterator that is called. */
import { useMemo, useRef } from "preact/hooks";
import { formatCount, formatTime } from "../../../base/format";
import { ChartMenu } from "../../../widgets/chart/chart_menu";
import { Card } from "../../../widgets/text/card";
import { ToolLink } from "../../links/tool_link";
import { TRACE } from "../../links/trace_links";
import type { PageProps } from "../../tool";
import type { Pipeline, TfData } from "../payload";
import { executionPlace, iteratorPlace } from "../trace_places";
import { layGraph } from "./graph_layout";
import { GraphPickers } from "./graph_pickers";
import { GraphTable, saveNodes } from "./graph_table";
import { chooseShown, MOST, makeTree, type ShownNodes, type Stub } from "./graph_tree";
import { GraphView } from "./graph_view";
import { IteratorDetails } from "./iterator_details";
import { Legend } from "./legend";

interface GraphSectionProps extends PageProps<TfData> {
  readonly choosePipeline: (pipeline: Pipeline) => void;
}

/** The height of the frame in CSS pixels: that of the graph, within bounds. */
const LEAST = 320;
const HIGHEST = 640;
const ROOM = 80;

export function GraphSection(props: GraphSectionProps) {
  const { payload: data, view, select, links, choosePipeline } = props;
  const { graph } = data;
  const place = useRef<HTMLElement>(null);
  const tree = useMemo(() => makeTree(graph), [graph]);
  const opened = view.open ?? "";
  const shown = useMemo(
    () => chooseShown(tree, opened === "" ? [] : opened.split(".")),
    [tree, opened],
  );
  const layout = useMemo(() => layGraph(tree, shown), [tree, shown]);
  const isTable = view.graph === "table";
  const chosen = tree.nodes.findIndex((node) => node.id === view.node);
  const choose = (node: number | null) => {
    // Keeps the focus where it was.
    if (
      node === null &&
      place.current?.querySelector(".tf-details")?.contains(document.activeElement)
    )
      place.current?.querySelector<SVGElement>(`[data-node="${chosen}"]`)?.focus();
    select({ node: node === null ? null : tree.nodes[node].id });
  };
  const openStub = (stub: Stub) => {
    const below = tree.nodes[stub.parent].id;
    select({ open: opened === "" ? below : `${opened}.${below}` });
  };
  const fileName = `tf_data_${graph.pipeline}_${graph.rank}_${props.fileName}`;
  const title = `${graph.pipeline} of ${graph.host}, rank ${graph.rank}${Number.isNaN(tree.duration) ? "" : `: ${formatTime(tree.nodes.find(({ parent }) => parent < 0)!.total)}`}`;
  const picture = async () => {
    const { drawGraphSvg } = await import("./graph_picture");
    return drawGraphSvg(tree, shown, layout, title);
  };
  const execution = executionPlace(graph);
  const height = Math.max(LEAST, Math.min(layout.height + ROOM, HIGHEST));
  return (
    <Card
      class="tf-graph"
      title="Input pipeline graph"
      place={place}
      why={{
        formula:
          "The iterators that worked for one execution of the pipeline, from the sources to the iterator that the program calls. Self time: total duration minus the time in which an iterator that it calls was working. Critical path: the iterators that the caller waited for. Bottleneck: the iterator on it that holds up the call longest, by its own work or because its functions occupy the threads that others wait for.",
        unit: "time; percentages are of the execution",
        source: "Host events of tf.data iterators, joined by their ids across threads.",
      }}
      head={
        <>
          <GraphPickers
            data={data}
            choosePipeline={choosePipeline}
            chooseRank={(rank) => select({ ...ownGraph(data), rank: String(rank) })}
          />
          <span class="space" />
          {execution ? (
            <ToolLink
              links={links}
              tool={TRACE}
              view={execution.view}
              hosts={execution.hosts}
              className="tf-to-trace"
            >
              Show in trace
            </ToolLink>
          ) : null}
          <ChartMenu
            title="Input pipeline graph"
            isTable={isTable}
            setTable={(table) => select({ graph: table ? "table" : null })}
            fileName={fileName}
            saveCsv={() => saveNodes(fileName, tree)}
            picture={picture}
            noun="picture"
          />
        </>
      }
    >
      {tree.nodes.length === 0 ? (
        <p class="muted">No iterator of this execution was recorded.</p>
      ) : isTable ? (
        <GraphTable
          key={title}
          tree={tree}
          toTimeline={(node) => {
            const { view: where, hosts } = iteratorPlace(graph, tree.nodes[node]);
            if (links.reason(TRACE) === null) links.open(TRACE, where, hosts);
          }}
        />
      ) : (
        <>
          <Legend />
          <HiddenNote shown={shown} />
          {data.executions.some(({ rank, isCut }) => isCut && rank === graph.rank) ? (
            <p class="tf-hidden" role="note">
              <span aria-hidden="true">⚠ </span>
              This execution mostly waited for an element that was started before the recording. The
              trace does not show why that took so long.
            </p>
          ) : null}
          <div class={chosen >= 0 ? "graph-parts with-details" : "graph-parts"}>
            <GraphView
              tree={tree}
              shown={shown}
              layout={layout}
              height={height}
              chosen={chosen}
              label={`Graph of ${title}; ${formatCount(tree.nodes.length)} iterators`}
              lookText={view.look}
              select={select}
              choose={choose}
              openStub={openStub}
            />
            {chosen >= 0 ? (
              <IteratorDetails
                graph={graph}
                tree={tree}
                node={tree.nodes[chosen]}
                advice={data.advice}
                links={links}
                close={() => choose(null)}
              />
            ) : null}
          </div>
        </>
      )}
    </Card>
  );
}

/** The execution in the address, so that another rank is of the same pipeline. */
function ownGraph({ graph }: TfData) {
  return { graph_host: graph.host, input_pipeline: graph.pipeline };
}

function HiddenNote({ shown }: { shown: ShownNodes }) {
  const hidden = shown.stubs.reduce((sum, { count }) => sum + count, 0);
  if (hidden === 0) return null;
  return (
    <p class="tf-hidden" role="note">
      <span aria-hidden="true">⚠ </span>
      {formatCount(shown.nodes.length)} of {formatCount(shown.nodes.length + hidden)} iterators are
      drawn, those of the critical path with the longest self time first.{" "}
      {shown.nodes.length < MOST
        ? "“+ … more” shows others; the table has all."
        : "No more can be drawn at once; the table has all."}
    </p>
  );
}
