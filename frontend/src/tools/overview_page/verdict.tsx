/** The verdict in one sentence: what is slow, by how much, and what could be saved. */
import { formatRatio } from "../../base/format";
import { ratio } from "../../base/units";
import { SeverityTag } from "../../widgets/text/finding_list";
import { Sentence } from "../../widgets/text/sentence";
import { ToolLink } from "../links/tool_link";
import type { Links } from "../tool";
import { averageMs, formatMs } from "./numbers";
import type { Finding, Overview } from "./payload";

interface OverviewVerdictProps {
  readonly overview: Overview;
  readonly links: Links;
}

export function OverviewVerdict({ overview, links }: OverviewVerdictProps) {
  const { steps, findings } = overview;
  const finding =
    findings.find(({ severity }) => severity === "high" || severity === "moderate") ?? findings[0];
  if (steps.count === 0) {
    return (
      <p class="card verdict none">
        <SeverityTag severity="low" text="No steps" />
        <span>
          <b>Step times are unknown:</b>{" "}
          {steps.property("step_note") || "nothing in the trace shows where a step begins."}
        </span>
      </p>
    );
  }
  if (!finding) {
    return (
      <p class="card verdict good">
        <SeverityTag severity="good" text="Nothing found" />
        <span>
          No part of the step stands out. The average step takes {formatMs(averageMs(overview))}.
        </span>
      </p>
    );
  }
  return (
    <p class={`card verdict ${finding.severity}`}>
      <SeverityTag severity={finding.severity} />
      <span>
        <b>
          <Sentence text={`${endless(finding.title)}.`} />
        </b>{" "}
        <Sentence text={savings(finding, averageMs(overview)) || firstSentence(finding.detail)} />
      </span>
      {finding.evidence && links.reason(finding.evidence.tool) === null ? (
        <ToolLink links={links} {...finding.evidence}>
          See the evidence
        </ToolLink>
      ) : null}
    </p>
  );
}

function savings({ gainMs, gainRatio }: Finding, stepMs: number): string {
  // A gain may refer to the average step, of which rare events are a part, not to the typical one.
  const other = gainRatio > 0 ? gainMs / gainRatio : stepMs;
  const wholeMs = Math.abs(other - stepMs) > 0.01 * stepMs ? other : stepMs;
  if (gainMs > 0 && wholeMs > 0)
    return `At most ${formatMs(gainMs)} of ${formatMs(wholeMs)} could be saved.`;
  return gainRatio > 0
    ? `At most ${formatRatio(ratio(gainRatio))} of the step could be saved.`
    : "";
}

/** The first sentence of a text: "31.6 % waits." of "31.6 % waits. The rest …". */
export function firstSentence(text: string): string {
  if (text === "") return "";
  const end = /[.!?](?=\s+\p{Lu})/u.exec(text);
  const sentence = end ? text.slice(0, end.index + 1) : text;
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

function endless(title: string): string {
  return title.replace(/[.:]+$/, "");
}
