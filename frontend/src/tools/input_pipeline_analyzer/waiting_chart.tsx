/** The chart of the share of each step spent waiting for input; the overview has the other parts. */
import type { View } from "../../base/url_state";
import { StepChart } from "../../widgets/step_chart/step_chart";
import { useStepView } from "../../widgets/step_chart/step_view";
import { openInTrace } from "../links/trace_link";
import { stepInTrace, TRACE } from "../links/trace_links";
import type { PageProps } from "../tool";
import type { InputPipeline } from "./payload";

const POD = "pod_viewer";

export function WaitingChart(props: PageProps<InputPipeline>) {
  const { payload, view, select, links, hosts, fileName } = props;
  const { steps, waiting, waitingShare } = payload;
  const stepView = useStepView(steps.count, view, select);
  const target = findTarget(props);
  const waits = waiting.some(({ values, high }) => (high ?? values).some((share) => share > 0));
  const toTimeline = (step: number) => openInTrace(links, stepInTrace(steps, step, hosts));
  const several = Number(steps.property("worker_count")) > 1;
  // For a single step, the statistics suffice.
  if (!waits || steps.count < 2) return null;
  return (
    <StepChart
      title="Share of the step spent waiting for input"
      explanation={{
        formula: `Time that the step spends waiting for input ÷ step time${several ? "; the line is the mean over workers, the band ranges from the minimum to the maximum" : ""}`,
        unit: "percent of the step",
        source: "Device and host events within the step.",
      }}
      steps={steps}
      series={waiting}
      quantity="percent"
      drawing="line"
      axisTitle={several ? "Share of the step, average and range of workers" : "Share of the step"}
      view={stepView}
      average={Number.isNaN(waitingShare.average) ? null : waitingShare.average}
      height={180}
      open={target?.open}
      openText={target?.text}
      toTimeline={toTimeline}
      fileName={`waiting_${fileName}`}
    />
  );
}

/** What a click on a step opens: the timeline, else the step in the pod viewer. */
function findTarget({ payload: { steps }, view, links, hosts }: PageProps<InputPipeline>) {
  const marker: View = view.marker ? { marker: view.marker } : {};
  if (links.reason(TRACE) === null)
    return {
      open: (step: number) => openInTrace(links, stepInTrace(steps, step, hosts)),
      text: "opens the step in the trace viewer",
    };
  if (links.reason(POD) === null)
    return {
      open: (step: number) => links.open(POD, { ...marker, step: String(step) }),
      text: "shows the step on every worker",
    };
  return null;
}
