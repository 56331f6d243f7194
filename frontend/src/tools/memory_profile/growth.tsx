/** Growth over the steps: memory in use at their ends, and ops whose memory grows. */
import { useMemo } from "preact/hooks";
import { encodeTexts, numberColumn, tableOf } from "../../api/data_table";
import { formatCount, NOT_MEASURED, plural, significant } from "../../base/format";
import { LocalTable } from "../../widgets/grid/local_table";
import type { ColumnSpec } from "../../widgets/table/columns";
import { numberSpec, textSpec } from "../../widgets/table/specs";
import { Card } from "../../widgets/text/card";
import { Name } from "../../widgets/text/name";
import { TableHead } from "../../widgets/text/table_head";
import { formatAmount } from "./format";
import type { Leak, Memory } from "./payload";

const MOST_LEAKS = 50;
/** The number of steps needed to detect a leak; the first and the last one do not count. */
const TELLING = 5;
/** Up to this many steps are shown as a plain table. */
const FEW = 10;

export function Growth({ memory }: { readonly memory: Memory }) {
  const { steps, leaks } = memory;
  // A single step cannot show growth.
  if (steps.labels.length < 2) return null;
  return (
    <Card
      class="snug memory-growth"
      title="Growth per step"
      why={{
        formula:
          "For each step: the peak memory in use, the memory in use at its end, and how much of its allocations was still in use when the recording ended. An op may leak if its memory grows with every step.",
        unit: "bytes",
        source: "Memory allocation and deallocation events within the steps.",
      }}
    >
      <div class={leaks.length > 0 ? "halves" : "memory-alone"}>
        {steps.labels.length > FEW ? <StepGrid memory={memory} /> : <StepList memory={memory} />}
        {leaks.length > 0 ? (
          <Leaks leaks={leaks} />
        ) : (
          <p class="muted">
            {steps.labels.length < TELLING
              ? `${plural(steps.labels.length, "step")} recorded; detecting a leak takes ${TELLING} or more.`
              : "No op's memory grows with every step."}
          </p>
        )}
      </div>
    </Card>
  );
}

function StepList({ memory: { steps } }: { readonly memory: Memory }) {
  const amount = (value: number) => (Number.isNaN(value) ? NOT_MEASURED : formatAmount(value));
  return (
    <table class="small-table part-table memory-steps" aria-label="Memory by step">
      <TableHead
        titles={["Step", "Peak", "In use at its end", "Kept until the end of the recording"]}
      />
      <tbody>
        {steps.labels.map((label, step) => (
          <tr key={step}>
            <th scope="row">{label.slice(0, 100)}</th>
            <td>{amount(steps.peak[step])}</td>
            <td>{amount(steps.atEnd[step])}</td>
            <td>{amount(steps.kept[step])}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const STEP_SPECS: readonly ColumnSpec[] = [
  { ...textSpec("step", "Step", 170, true), isSticky: true },
  numberSpec("peak", "Peak", "bytes", 180, "none"),
  numberSpec("end", "In use at its end", "bytes", 180, "none"),
  numberSpec("kept", "Kept until the end", "bytes", 180, "none"),
];

function StepGrid({ memory: { steps } }: { readonly memory: Memory }) {
  const table = useMemo(
    () =>
      tableOf([
        encodeTexts("step", "Step", steps.labels),
        numberColumn("peak", "Peak", steps.peak),
        numberColumn("end", "In use at its end", steps.atEnd),
        numberColumn("kept", "Kept until the end", steps.kept),
      ]),
    [steps],
  );
  return (
    <LocalTable
      label="Memory by step"
      table={table}
      specs={STEP_SPECS}
      rankBy="peak"
      noun="step"
      height={320}
    />
  );
}

function Leaks({ leaks }: { readonly leaks: readonly Leak[] }) {
  return (
    <div class="memory-leaks">
      <table class="small-table part-table" aria-label="Ops whose memory grows with the steps">
        <TableHead
          titles={["Op that may leak", "Per step", "Allocations per step", "Steps", "Shape"]}
        />
        <tbody>
          {leaks.slice(0, MOST_LEAKS).map((leak, index) => (
            <tr key={index}>
              <th scope="row">
                <Name text={leak.op.slice(0, 500) || "op not recorded"} full={leak.op} />
              </th>
              <td>{formatAmount(leak.bytesPerStep)}</td>
              <td>{countText(leak.occurrencesPerStep)}</td>
              <td>{formatCount(leak.steps)}</td>
              <td title={[leak.dtype, leak.shape, leak.region].filter(Boolean).join(" ")}>
                {[leak.dtype, leak.shape].filter(Boolean).join(" ").slice(0, 60) || "–"}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {leaks.length > MOST_LEAKS ? (
        <p class="muted">{plural(leaks.length - MOST_LEAKS, "more op")}</p>
      ) : null}
    </div>
  );
}

/** Formats a mean of counts. */
function countText(value: number): string {
  return Number.isInteger(value) ? formatCount(value) : significant(value);
}
