/** The overview page: what is slow, how much that costs, and what to do about it. */
import { StepChart } from "../../widgets/step_chart/step_chart";
import { useStepView } from "../../widgets/step_chart/step_view";
import { Diagnostics } from "../../widgets/text/diagnostics";
import { openInTrace } from "../links/trace_link";
import { stepInTrace, TRACE } from "../links/trace_links";
import { MarkerPicker } from "../steps/marker_picker";
import { NoSteps } from "../steps/no_steps";
import { StepChoice } from "../steps/step_choice";
import { explainStepTime } from "../steps/step_table";
import type { PageProps } from "../tool";
import { Environment, Readings } from "./facts";
import { averageMs } from "./numbers";
import type { Overview } from "./payload";
import { Recommendations } from "./recommendations";
import { StepPartsCard } from "./step_parts/step_parts_card";
import { Tiles } from "./tiles";
import { TopOps } from "./top_ops";
import { OverviewVerdict } from "./verdict";

export function OverviewPage(props: PageProps<Overview>) {
  const { title, payload, view, select, links } = props;
  const { steps, markers } = payload;
  return (
    <div class="page flowing">
      <header class="page-head">
        <h1>{title}</h1>
        <MarkerPicker markers={markers} steps={steps} chosen={view.marker ?? ""} select={select} />
        <StepChoice steps={steps} chosen={view.steps} select={select} />
      </header>
      <OverviewVerdict overview={payload} links={links} />
      <Tiles overview={payload} />
      {steps.count > 0 ? (
        <Steps {...props} />
      ) : (
        <>
          <NoSteps reason={null} markers={markers} select={select} />
          <Recommendations findings={payload.findings} links={links} />
        </>
      )}
      <div class="two-thirds">
        <div class="stack">
          <TopOps overview={payload} chosen={view.top_ops} select={select} links={links} />
          {/* The readings of TPUs are a tall card. */}
          {payload.isTpu ? <Diagnostics diagnostics={payload.diagnostics} /> : null}
        </div>
        <div class="stack">
          <Readings overview={payload} />
          {payload.isTpu ? null : <Diagnostics diagnostics={payload.diagnostics} />}
        </div>
      </div>
      <Environment environment={payload.environment} />
    </div>
  );
}

function Steps({ payload, view, select, links, hosts, fileName }: PageProps<Overview>) {
  const { steps } = payload;
  const stepView = useStepView(steps.count, view, select);
  const at = /^\d{1,9}$/.test(view.step ?? "") ? Number(view.step) : -1;
  const step = at >= 0 && at < steps.count ? at : null;
  const average = averageMs(payload) * 1000;
  const hasTrace = links.reason(TRACE) === null;
  const open = (chosen: number) => {
    if (hasTrace) openInTrace(links, stepInTrace(steps, chosen, hosts));
    else select({ step: chosen === step ? null : String(chosen) });
  };
  return (
    <div class="two-thirds">
      <div class="stack">
        <StepChart
          title="Step time"
          explanation={explainStepTime(steps)}
          steps={steps}
          series={steps.series}
          quantity="time"
          axisTitle="Time per step"
          view={stepView}
          average={Number.isNaN(average) ? null : average}
          height={300}
          selected={step}
          open={open}
          openText={hasTrace ? "opens the step in the trace viewer" : "shows the parts of the step"}
          toTimeline={(chosen) => openInTrace(links, stepInTrace(steps, chosen, hosts))}
          fileName={`steps_${fileName}`}
        />
        <Recommendations findings={payload.findings} links={links} />
      </div>
      <StepPartsCard
        overview={payload}
        step={step}
        close={() => select({ step: null })}
        links={links}
        hosts={hosts}
      />
    </div>
  );
}
