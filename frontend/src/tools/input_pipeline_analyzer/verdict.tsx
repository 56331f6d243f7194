/** The verdict: whether steps wait for input, and where to look next. */
import { type Severity, SeverityTag } from "../../widgets/text/finding_list";
import { parseTarget, ToolLink } from "../links/tool_link";
import { TRACE } from "../links/trace_links";
import type { Links } from "../tool";
import type { InputPipeline } from "./payload";

const LEVELS: Readonly<Record<string, readonly [severity: Severity, tag: string]>> = {
  host: ["high", "Input-bound"],
  both: ["moderate", "Partly input-bound"],
  device: ["good", "Not input-bound"],
};

/** In percent of the step; below it, steps hardly wait for input. Source: bottlenecks.py. */
export const MODERATE = 5;

interface InputVerdictProps {
  readonly pipeline: InputPipeline;
  readonly links: Links;
}

export function InputVerdict({ pipeline, links }: InputVerdictProps) {
  const { steps } = pipeline;
  const longest = steps.property("longest_wait");
  const [severity, tag] = findTag(pipeline);
  const sentence = steps.property("input_conclusion");
  const output = steps.property("output_conclusion");
  const next = steps.property("summary_nextstep");
  const [first, rest] = splitSentence(sentence);
  return (
    <div class={`card verdict ${severity}`}>
      <SeverityTag severity={severity} text={tag} />
      <span>
        <b>{first}</b> {rest}
        {output ? ` ${output}` : ""}
        {next ? <span class="pipeline-next">{next}</span> : null}
      </span>
      {longest !== "" && links.reason(TRACE) === null ? (
        <ToolLink links={links} tool={TRACE} {...parseTarget(longest)}>
          See the longest wait
        </ToolLink>
      ) : null}
    </div>
  );
}

export function findTag({
  steps,
  level,
  waitingShare,
}: InputPipeline): readonly [Severity, string] {
  if (steps.property("input_is_guess") === "true") {
    return [waitingShare.average < MODERATE ? "low" : "moderate", "Potentially input-bound"];
  }
  const isSent = steps.property("input_cause") === "transfer" && waitingShare.average >= MODERATE;
  if (isSent && steps.property("hardware_type") !== "TPU") {
    return [level === "host" ? "high" : "moderate", "Sending data"];
  }
  return LEVELS[level] ?? ["low", steps.count > 0 ? "Unknown" : "No steps"];
}

/** Splits a text after its first sentence. */
export function splitSentence(text: string): readonly [first: string, rest: string] {
  const end = /[.!?](?=\s+\p{Lu})/u.exec(text);
  return end
    ? [text.slice(0, end.index + 1), text.slice(end.index + 1).trim()]
    : [text || "No step time was measured.", ""];
}
