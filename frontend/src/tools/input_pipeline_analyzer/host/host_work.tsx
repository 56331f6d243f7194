/** What the host's threads do for input, and advice on the largest part. */
import { useState } from "preact/hooks";
import { formatRatio, formatTime } from "../../../base/format";
import { ratio } from "../../../base/units";
import { PartTable } from "../../../widgets/stacked_bar/part_table";
import { StackedBar } from "../../../widgets/stacked_bar/stacked_bar";
import { Card } from "../../../widgets/text/card";
import { GuideLink } from "../../../widgets/text/finding_list";
import { Name } from "../../../widgets/text/name";
import { EventLink } from "../../links/trace_link";
import { inputOpEvents, iteratorEvents } from "../../links/trace_links";
import type { Links } from "../../tool";
import type { HostWork, InputAdvice, InputPipeline } from "../payload";
import { MODERATE } from "../verdict";

export function HostWorkCards({ pipeline, links }: { pipeline: InputPipeline; links: Links }) {
  return (
    <div class="halves">
      <WorkCard host={pipeline.host} stage={findStage(pipeline)} links={links} />
      <AdviceCard advice={pipeline.advice} reason={noAdvice(pipeline)} />
    </div>
  );
}

/** The tf.data stage that steps wait for; "" if they hardly wait, or wait for something else. */
function findStage({ steps, waitingShare }: InputPipeline): string {
  return waitingShare.average >= MODERATE ? steps.property("input_cause_stage") : "";
}

function noAdvice({ host, steps }: InputPipeline): string {
  if (steps.property("input_is_guess") === "true")
    return "The trace does not show whether steps wait for input.";
  return host.total > 0
    ? "Nothing to do: steps hardly wait for input."
    : "No advice: no input pipeline was recorded.";
}

interface WorkCardProps {
  readonly host: HostWork;
  readonly stage: string;
  readonly links: Links;
}

function WorkCard({ host, stage, links }: WorkCardProps) {
  const [pointed, point] = useState<string | null>(null);
  const title = "Work on the host";
  const parts = host.parts.map((part) => ({
    ...part,
    share: host.total > 0 ? part.time / host.total : 0,
    deviation: null,
    isPart: false,
  }));
  return (
    <Card
      class="pipeline-host"
      title={title}
      why={{
        formula:
          "Self time of the input pipeline's events on all host threads, minus the time in which they wait for others. Threads work in parallel, so the sum may be longer than the trace.",
        unit: "time, and percent of all such work",
        source: "Host events of tf.data iterators, of infeed and of transfers to devices.",
      }}
    >
      {host.total > 0 ? (
        <>
          <StackedBar label={title} parts={parts} pointed={pointed} point={point} />
          <PartTable
            label="Parts of the work"
            rows={parts}
            total={host.total}
            whole="All work"
            pointed={pointed}
            point={point}
          />
        </>
      ) : (
        <p class="muted">No thread worked on input during the recording.</p>
      )}
      <HostNotes host={host} stage={stage} links={links} />
    </Card>
  );
}

function HostNotes({ host, stage, links }: WorkCardProps) {
  const time = formatTime;
  return (
    <ul class="pipeline-notes">
      {stage ? (
        <li>
          Steps wait mostly for{" "}
          <EventLink links={links} view={iteratorEvents(stage)}>
            <Name text={stage} />
          </EventLink>
        </li>
      ) : null}
      {host.slowestOp && host.slowestTime > 0 && !stage ? (
        <li>
          The op with the most work is{" "}
          <EventLink links={links} view={inputOpEvents(host.slowestOp)}>
            <Name text={host.slowestOp} />
          </EventLink>
          , {time(host.slowestTime)}
        </li>
      ) : null}
      {host.programWaiting > 0 ? (
        <li>The program waited {time(host.programWaiting)} for the pipeline.</li>
      ) : null}
      {host.waiting > 0 ? (
        <li>Threads of the pipeline waited {time(host.waiting)} for each other.</li>
      ) : null}
      {host.python > 0 ? <li>Python functions in the pipeline took {time(host.python)}.</li> : null}
    </ul>
  );
}

/** Advice by category; only that for the largest part is expanded. */
function AdviceCard({ advice, reason }: { advice: readonly InputAdvice[]; reason: string }) {
  const categories = [...new Set(advice.map(({ category }) => category))];
  const dominant = advice.find(({ isDominant }) => isDominant)?.category;
  return (
    <Card class="pipeline-advice" title="What to do">
      {advice.length === 0 ? (
        <p class="muted">{reason}</p>
      ) : (
        categories
          .toSorted((a, b) => Number(b === dominant) - Number(a === dominant))
          .map((category) => (
            <AdviceGroup
              key={category}
              advice={advice.filter((piece) => piece.category === category)}
              isOpen={category === dominant}
            />
          ))
      )}
    </Card>
  );
}

function AdviceGroup({ advice, isOpen }: { advice: readonly InputAdvice[]; isOpen: boolean }) {
  const [{ label, share }] = advice;
  return (
    <details open={isOpen}>
      <summary>
        <b>{label}</b>
        {share > 0 ? <span class="muted"> {formatRatio(ratio(share))} of the work</span> : null}
      </summary>
      <ul>
        {advice.map(({ title, text, guide }, index) => (
          <li key={index}>
            <b>{title}.</b> {text} <GuideLink title={guide.title} url={guide.url} />
          </li>
        ))}
      </ul>
    </details>
  );
}
