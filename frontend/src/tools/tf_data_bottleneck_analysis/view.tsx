/** The tf.data page: which input pipeline is slow, its bottleneck, and what to do. */
import { useRef } from "preact/hooks";
import type { PageProps } from "../tool";
import { GraphSection } from "./graph/graph_section";
import type { Bottleneck, Pipeline, TfData } from "./payload";
import { PipelineTable } from "./pipelines/pipeline_table";
import "./tf_data.css";
import { VerdictCard } from "./verdict_card";

/** Choosing another pipeline resets its execution, iterators and viewport. */
const OTHER_PIPELINE = { rank: null, node: null, open: null, look: null };

export function TfDataPage(props: PageProps<TfData>) {
  const { title, payload: data, view, select, fileName } = props;
  const graph = useRef<HTMLDivElement>(null);
  const choosePipeline = ({ host, name }: Pipeline) =>
    select({ ...OTHER_PIPELINE, graph_host: host, input_pipeline: name });
  const showBottleneck = ({ host, pipeline, id, rank }: Bottleneck) => {
    select({
      ...OTHER_PIPELINE,
      graph_host: host,
      input_pipeline: pipeline,
      rank: String(rank),
      node: id,
      graph: null,
    });
    graph.current?.scrollIntoView({ block: "start" });
  };
  return (
    <div class="page flowing">
      <header class="page-head">
        <h1>{title}</h1>
      </header>
      <VerdictCard data={data} showBottleneck={showBottleneck} />
      <PipelineTable
        data={data}
        view={view}
        select={select}
        choose={choosePipeline}
        fileName={`tf_data_pipelines_${fileName}`}
      />
      <div ref={graph}>
        <GraphSection {...props} choosePipeline={choosePipeline} />
      </div>
    </div>
  );
}
