/** The recommendations, the largest gain first. */
import { Card } from "../../widgets/text/card";
import { FindingList, GuideLink } from "../../widgets/text/finding_list";
import { ToolLink } from "../links/tool_link";
import type { Links } from "../tool";
import { formatGain, formatMs, formatReading } from "./numbers";
import type { Finding } from "./payload";

interface RecommendationsProps {
  readonly findings: readonly Finding[];
  readonly links: Links;
}

export function Recommendations({ findings, links }: RecommendationsProps) {
  const title = "Recommendations";
  return (
    <Card
      class="recommendations"
      title={title}
      why={{
        formula:
          "A finding is listed if its value exceeds a threshold. Its gain is how much shorter a step could be without it.",
        unit: "time and percent of the average step",
        source: "The parts of the steps, the ops and the memory of this run.",
      }}
      head={
        <>
          <span class="space" />
          {findings.some(({ gainMs }) => gainMs > 0) ? (
            <span class="muted">could save per step</span>
          ) : null}
        </>
      }
    >
      {findings.length === 0 ? (
        <p class="muted">Nothing stands out in this recording.</p>
      ) : (
        <FindingList
          findings={findings.map((finding) => ({
            id: finding.id,
            severity: finding.severity,
            title: finding.title,
            gain: finding.gainMs > 0 ? `up to ${formatMs(finding.gainMs)}` : "",
            notes: [formatGain(finding), measured(finding)].filter(Boolean).join(" "),
            detail: finding.detail,
            action: finding.action,
            links: <FindingLinks finding={finding} links={links} />,
          }))}
        />
      )}
    </Card>
  );
}

/** "Measured: 31.6 % (reported above 20.0 %)."; "" if nothing was measured. */
function measured({ value, unit, threshold }: Finding): string {
  const write = (number: number) => formatReading({ value: number, unit, text: "" });
  const text = unit === "count" && value === 0 ? null : write(value);
  const from = write(threshold);
  return text === null
    ? ""
    : `Measured: ${text}${from === null ? "" : ` (reported above ${from})`}.`;
}

function FindingLinks({ finding, links }: { finding: Finding; links: Links }) {
  const { evidence, next, guide } = finding;
  return (
    <>
      {evidence ? (
        <ToolLink links={links} tool={evidence.tool} view={evidence.view} hosts={evidence.hosts}>
          Evidence: {links.title(evidence.tool)}
        </ToolLink>
      ) : null}
      {next ? (
        <ToolLink links={links} tool={next.tool} view={next.view} hosts={next.hosts}>
          Next: {links.title(next.tool)}
        </ToolLink>
      ) : null}
      <GuideLink title={guide.title} url={guide.url} />
    </>
  );
}
