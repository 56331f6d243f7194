/** The performance analysis summary: the slow pipeline, its bottleneck, and what to do. */
import { useId } from "preact/hooks";
import { formatCount, formatRatio, formatTime, NOT_MEASURED, plural } from "../../base/format";
import { cut } from "../../base/names";
import { ratio } from "../../base/units";
import { LinkButton } from "../../widgets/controls/buttons";
import { CopyButton } from "../../widgets/controls/copy_button";
import { Explained } from "../../widgets/overlays/why";
import { type Severity, SeverityTag } from "../../widgets/text/finding_list";
import { Name } from "../../widgets/text/name";
import { Sentence } from "../../widgets/text/sentence";
import { AdviceList } from "./advice_list";
import { readLongName } from "./iterators";
import { type Bottleneck, type Pipeline, SLOW_US, type TfData } from "./payload";

interface VerdictCardProps {
  readonly data: TfData;
  /** Shows the bottleneck in the graph of the slowest execution. */
  readonly showBottleneck: (bottleneck: Bottleneck) => void;
}

export function VerdictCard({ data, showBottleneck }: VerdictCardProps) {
  const id = useId();
  const worst = data.bottlenecks.at(0);
  const pipeline = worst && pipelineOf(data, worst);
  const advice = data.advice.filter(
    (piece) => piece.host === worst?.host && piece.pipeline === worst.pipeline,
  );
  const [severity, tag] = judge(data);
  return (
    <section
      class={`card titled tf-summary ${advice.length > 0 ? "" : "alone"}`}
      aria-labelledby={id}
    >
      <header class="card-head">
        <h2 id={id}>
          <Explained
            label="Performance analysis summary"
            explanation={{
              formula: `A pipeline is slow if a call takes longer than ${SLOW_US} µs. The pipeline shown is the one that the program spends the most time in. Its bottleneck is the stage on the critical path that holds up its calls the longest, by its own work or because its functions occupy the threads that others wait for.`,
              unit: "time",
              source: "Host events of tf.data iterators.",
            }}
          />
        </h2>
      </header>
      <div class="tf-summary-parts">
        <div class="tf-verdict">
          <p class={`tf-sentence ${severity}`}>
            <SeverityTag severity={severity} text={tag} />{" "}
            <span>
              <Sentence text={cut(data.message || defaultMessage(data), MOST)} />
            </span>
          </p>
          {worst ? (
            <Facts worst={worst} pipeline={pipeline} showBottleneck={showBottleneck} />
          ) : null}
        </div>
        {advice.length > 0 ? (
          <div class="tf-advice">
            <h3>{severity === "good" ? "Possible improvements" : "How to fix it"}</h3>
            <AdviceList advice={advice} />
          </div>
        ) : null}
      </div>
    </section>
  );
}

/** The maximum length of a sentence, since names in it may be of any length. */
const MOST = 700;

interface FactsProps {
  readonly worst: Bottleneck;
  readonly pipeline: Pipeline | undefined;
  readonly showBottleneck: (bottleneck: Bottleneck) => void;
}

function Facts({ worst, pipeline, showBottleneck }: FactsProps) {
  const { usual } = worst;
  const isUsual = usual.longName === "" || usual.longName === worst.longName;
  const { type, longName } = usual.longName === "" ? worst : usual;
  const show = <LinkButton onClick={() => showBottleneck(worst)}>Show in graph</LinkButton>;
  return (
    <dl class="tf-facts">
      <Fact label="Host">
        <Name text={worst.host} />
      </Fact>
      <Fact label="Input pipeline">
        {worst.pipeline}
        {pipeline ? (
          <span class="muted">
            {": "}
            {formatCount(pipeline.slowCalls)} of {plural(pipeline.calls, "call")} took longer than{" "}
            {SLOW_US} µs
          </span>
        ) : null}
      </Fact>
      <Fact label="Maximum latency">
        <b>{formatTime(worst.maxLatency)}</b>
        {worst.share >= 0 ? (
          <span class="muted">
            ; calls take {formatRatio(ratio(worst.share))} of the time from the first to the last
          </span>
        ) : null}
      </Fact>
      <Fact label="Bottleneck">
        {type === "" ? (
          <span title="No iterator has self time">
            {NOT_MEASURED} <span class="muted">none stands out</span>
          </span>
        ) : (
          <>
            <b class="tf-bottleneck">{cut(type, 120)}</b>{" "}
            <span class="muted">{heldText(worst)}</span> {isUsual ? show : null}
          </>
        )}
      </Fact>
      {isUsual || worst.type === "" ? null : (
        <Fact label="Of the slowest call">
          {cut(worst.type, 120)}{" "}
          {Number.isNaN(worst.self) ? null : <span class="muted">{selfText(worst)}</span>} {show}
        </Fact>
      )}
      {longName === "" ? null : (
        <Fact label="Long name">
          <LongName longName={longName} />
        </Fact>
      )}
    </dl>
  );
}

/** The figure that all pages show for it. */
function heldText(worst: Bottleneck): string {
  const { usual, meanLatency } = worst;
  if (Number.isNaN(usual.held)) return Number.isNaN(worst.self) ? "" : selfText(worst);
  return `${formatTime(usual.held)} for each call; these take ${formatTime(meanLatency)} on average`;
}

/** Stages that work ahead or on several threads may take longer than the call. */
function selfText({ self, maxLatency, rank }: Bottleneck): string {
  const share = self / maxLatency;
  const time = `${formatTime(self)} self time`;
  if (rank > 0)
    return `${time} in rank ${rank}, the slowest call for which it is known what it waited for`;
  if (!(share >= 0)) return time;
  return share <= 1
    ? `${time}, ${formatRatio(ratio(share))} of the slowest call`
    : `${time}, part of it before the slowest call or in parallel`;
}

function Fact({ label, children }: { label: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The long name, and explanations of its parts. */
function LongName({ longName }: { longName: string }) {
  const parts = readLongName(longName);
  return (
    <>
      <span class="tf-long-name">
        <code>
          {parts.map(({ text }, index) => (
            <span key={index}>
              {index > 0 ? <span class="muted">::</span> : null}
              <span class={index === parts.length - 1 ? "tf-bottleneck" : undefined}>
                {text.slice(0, 300)}
              </span>
              <wbr />
            </span>
          ))}
        </code>{" "}
        <CopyButton text={() => longName} label="Copy" title="Copy the long name" />
      </span>
      <details class="tf-name-parts">
        <summary>How to read it</summary>
        <p>
          The last part is the stage itself. Its elements pass through the others from right to
          left.
        </p>
        <ol>
          {parts.toReversed().map(({ text, meaning }, index) => (
            <li key={index}>
              <code>{text.slice(0, 300)}</code> <span class="muted">{meaning}</span>
            </li>
          ))}
        </ol>
      </details>
    </>
  );
}

const TAGS: Readonly<Record<Severity, string>> = {
  high: "Slow pipeline",
  moderate: "Slow pipeline",
  low: "Some slow calls",
  good: "No slow pipeline",
};

/** The severity and its label. */
function judge({
  bottlenecks,
  severity,
  isInputBound,
}: TfData): readonly [severity: Severity, tag: string] {
  if (bottlenecks.length === 0) return ["low", "Unknown"];
  const isHeldUp = severity === "high" || severity === "moderate";
  // Whether the pipeline is slow matters more than how slow it is.
  const level = isInputBound === isHeldUp ? severity : isInputBound ? "high" : "good";
  return [level, TAGS[level]];
}

function defaultMessage({ bottlenecks, isInputBound }: TfData): string {
  if (bottlenecks.length === 0) return "No pipeline could be analyzed.";
  return isInputBound
    ? "There are slow input pipelines."
    : `No call of an input pipeline took longer than ${SLOW_US} µs.`;
}

function pipelineOf(
  { pipelines }: TfData,
  of: { readonly host: string; readonly pipeline: string },
): Pipeline | undefined {
  return pipelines.find(({ host, name }) => host === of.host && name === of.pipeline);
}
