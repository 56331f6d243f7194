/** The parts of the average step or of one step, as a bar with its table. */
import { useState } from "preact/hooks";
import { SmallButton } from "../../../widgets/controls/buttons";
import { PartTable } from "../../../widgets/stacked_bar/part_table";
import { StackedBar } from "../../../widgets/stacked_bar/stacked_bar";
import { stepNotes } from "../../../widgets/step_chart/steps";
import { Card } from "../../../widgets/text/card";
import { ToolLink } from "../../links/tool_link";
import { stepInTrace, TRACE } from "../../links/trace_links";
import type { Links } from "../../tool";
import type { Overview } from "../payload";
import { IdleParts } from "./idle_parts";
import { averageName, averageParts, barParts, partsOfStep } from "./step_parts";

interface StepPartsCardProps {
  readonly overview: Overview;
  /** null for the average step. */
  readonly step: number | null;
  readonly close: () => void;
  readonly links: Links;
  readonly hosts: readonly string[];
}

export function StepPartsCard(props: StepPartsCardProps) {
  const { overview, step, close, links, hosts } = props;
  const { steps, breakdown } = overview;
  const [pointed, point] = useState<string | null>(null);
  const { title, total, rows } =
    step === null ? averageParts(steps, breakdown) : partsOfStep(steps, step);
  return (
    <Card
      class="step-parts"
      title={title}
      why={{
        formula:
          "Each instant of the step belongs to one part: what the device does first, then what the host does, then all others. The mean over the devices, and for the average step over the steps.",
        unit: "time, and percent of the step",
        source: "Device and host events within the step.",
      }}
      head={
        <>
          <span class="space" />
          {step !== null && links.reason(TRACE) === null ? (
            <ToolLink links={links} tool={TRACE} {...stepInTrace(steps, step, hosts)}>
              Show in trace
            </ToolLink>
          ) : null}
          {step !== null ? <SmallButton onClick={close}>{averageName(steps)}</SmallButton> : null}
        </>
      }
    >
      {Number.isNaN(total) ? (
        <p class="muted">The work of the steps was not recorded, so the parts are unknown.</p>
      ) : (
        <>
          <StackedBar label={title} parts={barParts(rows)} pointed={pointed} point={point} />
          <PartTable
            label={`Parts of the ${step === null ? averageName(steps).toLowerCase() : "step"}`}
            rows={rows}
            total={total}
            pointed={pointed}
            point={point}
          />
        </>
      )}
      {step === null ? <IdleParts parts={overview.idle} stepTime={total} /> : null}
      {step === null
        ? null
        : stepNotes(steps, step).map((note) => (
            <p class="muted" key={note}>
              {note}
            </p>
          ))}
    </Card>
  );
}
