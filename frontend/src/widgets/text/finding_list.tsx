/** What was found, each with its number, why it matters, what to do, and where to see it. */
import type { ComponentChildren } from "preact";
import { Sentence } from "./sentence";

export type Severity = "high" | "moderate" | "low" | "good";

interface FindingItem {
  readonly id: string;
  readonly severity: Severity;
  readonly title: string;
  /** What removing it would save, in short; "" where that is not known. */
  readonly gain: string;
  /** The numbers behind it. */
  readonly notes: string;
  readonly detail: string;
  readonly action: string;
  /** Links to the page that shows it and to a guide. */
  readonly links: ComponentChildren;
}

const TAGS: Readonly<Record<Severity, string>> = {
  high: "High",
  moderate: "Moderate",
  low: "Low",
  good: "Good",
};

export function SeverityTag({ severity, text }: { severity: Severity; text?: string }) {
  return <span class={`tag ${severity}`}>{text ?? TAGS[severity]}</span>;
}

interface FindingListProps {
  readonly findings: readonly FindingItem[];
  /** How bad the first one must be to be open; the others fold. */
  readonly opens?: readonly Severity[];
}

const USUAL: readonly Severity[] = ["high", "moderate", "low"];

export function FindingList({ findings, opens = USUAL }: FindingListProps) {
  return (
    <ol class="findings">
      {findings.map((finding, at) => (
        <li key={finding.id}>
          <details open={at === 0 && opens.includes(finding.severity)}>
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

/** A link to a guide on another server, opened in a new tab; its title alone where it is not an https address. */
export function GuideLink({ title, url }: { title: string; url: string }) {
  if (!url.startsWith("https://")) return title === "" ? null : <span>{title}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {title || url} ↗
    </a>
  );
}
