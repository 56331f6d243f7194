/** What a program keeps in memory: one sentence, and its figures. */
import { numbers, textAt, texts } from "../../api/data_table";
import { formatBytes, formatCount, formatRatio } from "../../base/format";
import { bytes, ratio } from "../../base/units";
import { Explained } from "../../widgets/overlays/why";
import { NotMeasured } from "../../widgets/text/definition_list";
import { Name } from "../../widgets/text/name";
import type { Heap } from "./payload";

/** Less of the peak is not worth a sentence. */
const LEAST = 0.001;

/** "496 MiB at the peak, at loop_reduce_fusion. 192 MiB of it holds gemm_fusion_dot.3 (38.7 %)." */
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
          {formatRatio(ratio(largest / figures.peak))} of it holds <Name text={name} />.{" "}
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
    <section class="card heap-figures" aria-label="Figures of the program">
      <header class="card-head">
        <h2>At a glance</h2>
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
  const found: HeapFigure[] = [
    {
      label: "Peak",
      value: figures.peak,
      formula:
        "The most in use after any event of the heap: parameters, results and constants, and temporary arrays",
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
      label: "of both, donated",
      value: figures.donated,
      isPart: true,
      formula: "Memory of parameters that holds results: it is counted once in the peak",
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
      formula: "What the simulated heap has allocated at the peak",
    },
    {
      label: "Padding at the peak",
      value: figures.padding,
      formula: "Sizes − unpadded sizes of what is in memory at the peak",
    },
    {
      label: "Gaps",
      value: figures.holes,
      formula: "What is reserved for temporary arrays beyond the most that they ever use at once",
    },
    {
      label: "Reserved in all",
      value: figures.reserved,
      formula: "All allocations of the memory space, but those of single threads",
    },
  ];
  if (figures.untraced > 0)
    found.push({
      label: "Of unknown lifetime",
      value: figures.untraced,
      formula: "Temporary memory of which no trace of the heap says when it is in use",
    });
  if (figures.threadLocal > 0)
    found.push({
      label: "Of single threads",
      value: figures.threadLocal,
      formula: "Memory that each thread has of its own; it is in none of the other figures",
    });
  if (space === 1)
    found.push({
      label: "Most of one instruction",
      value: figures.scoped,
      reason: "no instruction says",
      note: figures.scopedInstruction.slice(0, 200),
      formula: "The most vector memory that one instruction has for itself",
    });
  return found;
}
