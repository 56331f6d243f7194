/** Findings about memory, by how much memory they would free. */
import { MemoryFindings } from "../../widgets/memory_chart/memory_findings";
import { Card } from "../../widgets/text/card";
import type { Severity } from "../../widgets/text/finding_list";
import { formatAmount } from "./format";
import type { Memory } from "./payload";

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
      <MemoryFindings
        findings={findings}
        opens={URGENT}
        amount={(bytes) => (Number.isNaN(bytes) ? "" : formatAmount(bytes))}
      />
    </Card>
  );
}
