/** Findings about memory, by how much memory they would free. */
import { Card } from "../../widgets/text/card";
import { FindingList, type Severity } from "../../widgets/text/finding_list";
import { formatAmount, formatMemoryShare } from "./format";
import type { Memory } from "./payload";

const SEVERITIES: readonly Severity[] = ["high", "moderate", "low", "good"];

/** Findings that need no action are collapsed. */
const URGENT: readonly Severity[] = ["high", "moderate"];

export function Findings({ memory }: { readonly memory: Memory }) {
  const { findings } = memory;
  if (findings.length === 0) return null;
  return (
    <Card
      class="snug memory-findings"
      title="What to free first"
      why={{
        formula:
          "Rules about the memory in use at the peak, growth from step to step, utilization and fragmentation. The figures are the size concerned and its share of the peak.",
        unit: "bytes, percent",
        source: "Memory allocation and deallocation events of the chosen memory.",
      }}
    >
      <FindingList
        opens={URGENT}
        findings={findings.map((finding, index) => ({
          id: `${finding.id}.${index}`,
          severity: SEVERITIES.find((severity) => severity === finding.severity) ?? "low",
          title: finding.title.slice(0, 1000),
          gain: gainText(finding.bytes, finding.share),
          notes: "",
          detail: finding.detail.slice(0, 4000),
          action: finding.action.slice(0, 4000),
          links: null,
        }))}
      />
    </Card>
  );
}

function gainText(bytes: number, share: number): string {
  return [
    Number.isNaN(bytes) ? "" : formatAmount(bytes),
    Number.isNaN(share) ? "" : formatMemoryShare(share),
  ]
    .filter((text) => text !== "")
    .join(" · ");
}
