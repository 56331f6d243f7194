/** The input pipeline page: whether steps wait for input, which part of it is slow, what to do. */
import { useState } from "preact/hooks";
import { LinkButton } from "../../widgets/controls/buttons";
import { Diagnostics } from "../../widgets/text/diagnostics";
import { MarkerPicker } from "../steps/marker_picker";
import { NoSteps } from "../steps/no_steps";
import { StepChoice } from "../steps/step_choice";
import type { PageProps } from "../tool";
import { Cores } from "./cores";
import { Activities } from "./host/activities";
import { HostWorkCards } from "./host/host_work";
import "./input.css";
import { OpTable } from "./host/op_table";
import type { InputPipeline } from "./payload";
import { StatisticsRow } from "./statistics_row";
import { findTag, InputVerdict, MODERATE } from "./verdict";
import { WaitingChart } from "./waiting_chart";

export function InputPipelinePage(props: PageProps<InputPipeline>) {
  const { title, payload, view, select, links } = props;
  const { steps, markers, ops, activities, diagnostics } = payload;
  const hasHost = ops.length > 0 || activities.length > 0;
  // If no step waits for input, the host's work is shown on demand.
  const isShort = findTag(payload)[0] === "good" && payload.waitingShare.most < MODERATE;
  const [isOpen, setOpen] = useState(() => Object.keys(view).some((key) => key.startsWith("f.")));
  return (
    <div class="page flowing">
      <header class="page-head">
        <h1>{title}</h1>
        <MarkerPicker markers={markers} steps={steps} chosen={view.marker ?? ""} select={select} />
        <StepChoice steps={steps} chosen={view.steps} select={select} />
      </header>
      <InputVerdict pipeline={payload} links={links} />
      {steps.count > 0 ? (
        <>
          {isShort ? null : <WaitingChart {...props} />}
          <StatisticsRow pipeline={payload} />
          {isShort ? null : <Cores cores={payload.cores} />}
        </>
      ) : (
        <NoSteps reason={steps.property("step_note")} markers={markers} select={select} />
      )}
      {hasHost && isShort ? (
        <p>
          <LinkButton aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? "Hide" : "Show"} the host’s work on input
          </LinkButton>
        </p>
      ) : null}
      {isShort && !isOpen ? null : hasHost ? (
        <>
          <HostWorkCards pipeline={payload} links={links} />
          <Activities activities={activities} links={links} />
          <OpTable {...props} />
        </>
      ) : (
        <NoInput pipeline={payload} />
      )}
      <Diagnostics diagnostics={diagnostics} />
    </div>
  );
}

function NoInput({ pipeline: { advice } }: { pipeline: InputPipeline }) {
  return (
    <section class="card titled pipeline-host" aria-labelledby="no-input">
      <header class="card-head">
        <h2 id="no-input">No input ops in this trace</h2>
      </header>
      <p>
        No event of tf.data, infeed or transfers to devices was recorded on the hosts, so work on
        the input cannot be distinguished from other work. The program may load its data in plain
        Python or reuse one batch, or it was recorded without host tracing.
      </p>
      <ul class="pipeline-notes">
        {advice.map(({ title, text }, index) => (
          <li key={index}>
            <b>{title}.</b> {text}
          </li>
        ))}
      </ul>
    </section>
  );
}
