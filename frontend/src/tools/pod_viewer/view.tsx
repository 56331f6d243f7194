/** The pod page: the steps of all workers side by side, and the workers that others wait for. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Diagnostics } from "../../widgets/text/diagnostics";
import { ToolLink } from "../links/tool_link";
import { openInTrace } from "../links/trace_link";
import { MarkerPicker } from "../steps/marker_picker";
import { NoSteps } from "../steps/no_steps";
import { StepChoice } from "../steps/step_choice";
import type { PageProps } from "../tool";
import { ColumnChart } from "./columns/column_chart";
import { HeatMap } from "./heat_map/heat_map";
import { chooseMeasure, findDomain, findMeasures } from "./measures";
import { cellOf, type Pod } from "./payload";
import "./pod.css";
import { StepBar } from "./step/step_bar";
import { useStepCells } from "./step/step_cells";
import { workerPlace } from "./step/step_place";
import { WorkerCard } from "./step/worker_card";
import { StragglerList } from "./straggler_list";

const OVERVIEW = "overview_page";

export function PodPage(props: PageProps<Pod>) {
  const { title, payload: pod, view, select } = props;
  const hasSteps = pod.steps.count > 0 && pod.workers.count > 0;
  // Devices that cannot be distinguished may still be late.
  const isAlone = pod.workers.count === 1 && pod.noStraggler !== "unnamed";
  return (
    <div class="page flowing">
      <header class="page-head">
        <h1>{title}</h1>
        <MarkerPicker
          markers={pod.markers}
          steps={pod}
          chosen={view.marker ?? ""}
          select={select}
        />
        <StepChoice steps={pod.steps} chosen={view.steps} select={select} />
      </header>
      {!hasSteps ? (
        <NoSteps reason={pod.property("step_note")} markers={pod.markers} select={select} />
      ) : isAlone ? (
        <OnlyOne {...props} />
      ) : (
        <PodSteps {...props} />
      )}
      <Diagnostics diagnostics={pod.diagnostics} />
    </div>
  );
}

function PodSteps({ payload: pod, view, select, links, ask, fileName }: PageProps<Pod>) {
  const pointed = useSignal<number | null>(null);
  const slowest = useMemo(() => slowestTimes(pod), [pod]);
  const usual = useMemo(() => findDomain(pod.total, pod.steps.isTruncated).high, [pod]);
  const measures = useMemo(() => findMeasures(pod), [pod]);
  const step = indexOf(view.step, pod.steps.count) ?? usualStep(pod, slowest);
  const worker = indexOf(view.worker, pod.workers.count);
  const { cells, error } = useStepCells(pod, step, ask);
  const file = `pod_${fileName}`;
  const toTimeline = (worker: number) => {
    openInTrace(links, workerPlace(pod, cells, worker));
  };
  return (
    <>
      <StepBar
        pod={pod}
        step={step}
        slowest={slowest}
        cells={cells}
        choose={(next) => select({ step: String(next) })}
        links={links}
      />
      <HeatMap
        pod={pod}
        measures={measures}
        measure={chooseMeasure(pod, measures, view.by)}
        isFromZero={view.scale === "zero"}
        step={step}
        worker={worker}
        pointed={pointed}
        select={select}
        toTimeline={toTimeline}
        fileName={file}
      />
      <div class="pod-parts">
        <WorkerCard
          pod={pod}
          cells={cells}
          worker={worker}
          pointed={pointed}
          error={error}
          links={links}
        />
        <ColumnChart
          pod={pod}
          cells={cells}
          arrangement={{
            isByHost: view.columns === "hosts",
            isLatestFirst: view.order === "latest",
          }}
          usual={usual}
          worker={worker}
          pointed={pointed}
          select={select}
          toTimeline={toTimeline}
          fileName={file}
        />
        <StragglerList
          pod={pod}
          worker={worker}
          choose={(choice) => select({ worker: choice === null ? null : String(choice) })}
        />
      </div>
    </>
  );
}

function OnlyOne({ payload: pod, view: { step }, links }: PageProps<Pod>) {
  return (
    <p class="card verdict none">
      <span>
        <b>{pod.workers.titles[0]} is the only worker:</b> there is nothing to compare.
      </span>
      <ToolLink links={links} tool={OVERVIEW} view={step ? { step } : {}}>
        See its steps in the overview
      </ToolLink>
    </p>
  );
}

/** An index from the address; null unless it is below `count`. */
function indexOf(text: string | undefined, count: number): number | null {
  const at = /^\d{1,9}$/.test(text ?? "") ? Number(text) : -1;
  return at >= 0 && at < count ? at : null;
}

/** [steps] The slowest worker's time in µs. */
export function slowestTimes(pod: Pod): Float64Array {
  const slowest = new Float64Array(pod.steps.count).fill(Number.NaN);
  for (let worker = 0; worker < pod.workers.count; worker++) {
    for (let step = 0; step < pod.steps.count; step++) {
      const total = pod.total[cellOf(pod, worker, step)];
      if (!(total <= slowest[step]) && !Number.isNaN(total)) slowest[step] = total;
    }
  }
  return slowest;
}

/** The median step by time among the fully recorded ones, as a typical step. */
export function usualStep({ steps }: Pod, slowest: Float64Array): number {
  const all = [...slowest.keys()].filter((step) => !Number.isNaN(slowest[step]));
  const whole = all.filter((step) => !steps.isTruncated[step]);
  const ranked = (whole.length > 0 ? whole : all).sort((a, b) => slowest[a] - slowest[b]);
  return ranked[ranked.length >> 1] ?? 0;
}
