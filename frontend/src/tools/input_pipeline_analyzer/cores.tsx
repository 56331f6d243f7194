/** For TPUs: which core waited longest for input in each step. */
import { useMemo } from "preact/hooks";
import { formatCount, plural } from "../../base/format";
import { Card } from "../../widgets/text/card";
import { TableHead } from "../../widgets/text/table_head";
import type { WaitingCore } from "./payload";

const SHOWN = 8;

export function Cores({ cores }: { cores: readonly WaitingCore[] }) {
  const ranked = useMemo(() => rankCores(cores), [cores]);
  // If no core waited, the statistics say so.
  if (ranked.length === 0) return null;
  const title = "Cores that wait longest for input";
  return (
    <Card
      class="pipeline-cores"
      title={title}
      why={{
        formula: "The core with the most time in infeed, for each step",
        unit: "steps",
        source: "Infeed events of the TensorCores.",
      }}
    >
      <table class="small-table">
        <TableHead titles={["Core", "Longest in", "Steps"]} />
        <tbody>
          {ranked.slice(0, SHOWN).map(({ core, steps }) => (
            <tr key={core}>
              <th scope="row">{core.slice(0, 200)}</th>
              <td>
                {formatCount(steps.length)} of {plural(cores.length, "step")}
              </td>
              <td>
                <span class="cut" title={steps.slice(0, 500).join(", ")}>
                  {steps.slice(0, 200).join(", ")}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {ranked.length > SHOWN ? (
        <p class="muted">{plural(ranked.length - SHOWN, "more core")}</p>
      ) : null}
    </Card>
  );
}

interface RankedCore {
  readonly core: string;
  readonly steps: readonly string[];
}

/** The cores by how many steps they waited longest in, descending. */
export function rankCores(cores: readonly WaitingCore[]): RankedCore[] {
  const byCore = new Map<string, string[]>();
  for (const { core, step } of cores) {
    if (core === "unknown" || core === "") continue;
    const steps = byCore.get(core) ?? [];
    steps.push(step);
    byCore.set(core, steps);
  }
  return [...byCore]
    .map(([core, steps]) => ({ core, steps }))
    .sort((a, b) => b.steps.length - a.steps.length);
}
