/** The memory of a program: a sentence and its figures. */
import { numbers, textAt, texts } from "../../api/data_table";
import { formatBytes, formatCount, formatRatio } from "../../base/format";
import { bytes, ratio } from "../../base/units";
import { Explained } from "../../widgets/overlays/why";
import { NotMeasured } from "../../widgets/text/definition_list";
import { Name } from "../../widgets/text/name";
import type { Heap } from "./payload";

/** The smallest share of the peak that is mentioned. */
const LEAST = 0.001;

/** "496 MiB at the peak, at loop_reduce_fusion. gemm_fusion_dot.3 takes 38.7 % of it." */
export function HeapSentence({ heap }: { readonly heap: Heap }) {
  const { figures, live } = heap;
  const size = numbers(live.table, "size_bytes");
  const largest = live.isPeak && live.table.length > 0 ? size?.[0] : undefined;
  const name = textAt(texts(live.table, "instruction"), 0);
  return (
    <p class="heap-sentence">
      <b>{formatBytes(bytes(figures.peak))}</b>{" "}
      {figures.events > 0 ? (
        <>
          at the peak, at <Name text={figures.peakInstruction} />.
        </>
      ) : (
        "throughout."
      )}{" "}
      {largest !== undefined && figures.peak > 0 ? (
        <>
          <Name text={name} /> takes {formatRatio(ratio(largest / figures.peak))} of it.{" "}
        </>
      ) : null}
      {figures.padding > LEAST * figures.peak
        ? `${formatBytes(bytes(figures.padding))} is padding. `
        : ""}
      {figures.holes > LEAST * figures.peak
        ? `${formatBytes(bytes(figures.holes))} more is reserved for gaps between arrays.`
        : ""}
    </p>
  );
}

interface HeapFigure {
  readonly label: string;
  readonly value: number;
  readonly formula: string;
  readonly isPart?: boolean;
  readonly reason?: string;
  readonly note?: string;
}

export function HeapFigures({ heap }: { readonly heap: Heap }) {
  return (
    <section class="card titled snug heap-figures" aria-label="Figures of the program">
      <header class="card-head">
        <h2>Program memory summary</h2>
      </header>
      <dl>
        {figuresOf(heap).map(({ label, value, formula, isPart, reason, note }) => (
          <div key={label} class={isPart ? "heap-figure part" : "heap-figure"}>
            <dt>
              <Explained
                label={label}
                explanation={{
                  formula,
                  unit: "bytes",
                  source: "The buffer assignment of the program in the trace.",
                }}
              />
            </dt>
            <dd title={Number.isNaN(value) ? undefined : `${formatCount(value)} bytes`}>
              {Number.isNaN(value) ? <NotMeasured reason={reason} /> : formatBytes(bytes(value))}
              {note ? <span class="muted one-line heap-figure-note">{note}</span> : null}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function figuresOf({ figures, space }: Heap): HeapFigure[] {
  const listed: HeapFigure[] = [
    {
      label: "Peak",
      value: figures.peak,
      formula:
        "The largest memory in use after any event of the heap: parameters, results, constants and temporary arrays",
    },
    {
      label: "Parameters",
      value: figures.parameters,
      isPart: true,
      formula: "Memory of the program's parameters, including those whose memory holds results",
    },
    {
      label: "Results",
      value: figures.outputs,
      isPart: true,
      formula: "Memory of the program's results, including donated parameters",
    },
    {
      label: "Both (donated)",
      value: figures.donated,
      isPart: true,
      formula: "Memory of donated parameters that also holds results; the peak counts it once",
    },
    {
      label: "Constants",
      value: figures.constants,
      isPart: true,
      formula: "Memory of constants",
    },
    {
      label: "Temporary arrays",
      value: figures.temporaries,
      isPart: true,
      formula: "Memory allocated from the compiler's heap at the peak",
    },
    {
      label: "Padding at the peak",
      value: figures.padding,
      formula: "Size − unpadded size, summed over the arrays in memory at the peak",
    },
    {
      label: "Gaps",
      value: figures.holes,
      formula: "Memory reserved for temporary arrays − the largest amount that they use at once",
    },
    {
      label: "Total reserved",
      value: figures.reserved,
      formula: "All allocations in this memory space, except thread-local ones",
    },
  ];
  if (figures.untraced > 0)
    listed.push({
      label: "Unknown lifetime",
      value: figures.untraced,
      formula: "Temporary memory whose lifetime is not recorded in the program",
    });
  if (figures.threadLocal > 0)
    listed.push({
      label: "Thread-local",
      value: figures.threadLocal,
      formula: "Memory that each thread has of its own; not included in any other figure",
    });
  if (space === 1)
    listed.push({
      label: "Most for one instruction",
      value: figures.scoped,
      reason: "not recorded for any instruction",
      note: figures.scopedInstruction.slice(0, 200),
      formula: "The largest vector memory reserved for a single instruction",
    });
  return listed;
}
