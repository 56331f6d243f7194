/** Findings: each with its figure, the reason, the action, and links to the evidence. */
import type { ComponentChildren } from "preact";
import { Sentence } from "./sentence";

export type Severity = "high" | "moderate" | "low" | "good";

interface FindingItem {
  readonly id: string;
  readonly severity: Severity;
  readonly title: string;
  /** What fixing it would save, in short; "" if unknown. */
  readonly gain: string;
  /** The figures behind it. */
  readonly notes: string;
  readonly detail: string;
  readonly action: string;
  /** Links to the page with the evidence and to a guide. */
  readonly links: ComponentChildren;
}

const TAGS: Readonly<Record<Severity, string>> = {
  high: "High",
  moderate: "Moderate",
  low: "Low",
  good: "Good",
};

/** "low" for what is none. */
export function readSeverity(text: string | undefined): Severity {
  return (Object.keys(TAGS) as Severity[]).find((severity) => severity === text) ?? "low";
}

export function SeverityTag({ severity, text }: { severity: Severity; text?: string }) {
  return <span class={`tag ${severity}`}>{text ?? TAGS[severity]}</span>;
}

interface FindingListProps {
  readonly findings: readonly FindingItem[];
  /** The severities at which the first finding is expanded; the others are collapsed. */
  readonly opens?: readonly Severity[];
}

const USUAL: readonly Severity[] = ["high", "moderate", "low"];

export function FindingList({ findings, opens = USUAL }: FindingListProps) {
  return (
    <ol class="plain findings">
      {findings.map((finding, index) => (
        <li key={finding.id}>
          <details open={index === 0 && opens.includes(finding.severity)}>
            <summary>
              <SeverityTag severity={finding.severity} />
              <span class="finding-title">
                <Sentence text={finding.title} />
              </span>
              <span class="finding-value">{finding.gain}</span>
            </summary>
            <div class="finding-body">
              {finding.detail ? (
                <p>
                  <Sentence text={finding.detail} />
                </p>
              ) : null}
              {finding.action ? (
                <p>
                  <b>Do this:</b> <Sentence text={finding.action} />
                </p>
              ) : null}
              {finding.notes ? (
                <p class="muted">
                  <Sentence text={finding.notes} />
                </p>
              ) : null}
              <p class="finding-links">{finding.links}</p>
            </div>
          </details>
        </li>
      ))}
    </ol>
  );
}

/** A link to an external guide, opened in a new tab; only the title if it is not an https address. */
export function GuideLink({ title, url }: { title: string; url: string }) {
  if (!url.startsWith("https://")) return title === "" ? null : <span>{title}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {title || url} ↗
    </a>
  );
}
