/** The figures of one allocator: events, sizes, and the parts of its peak. */
import type { ComponentChildren } from "preact";
import { formatCount, plural } from "../../base/format";
import { Explained } from "../../widgets/overlays/why";
import { StackedBar } from "../../widgets/stacked_bar/stacked_bar";
import { NotMeasured } from "../../widgets/text/definition_list";
import { ToolLink } from "../links/tool_link";
import type { Links, Select } from "../tool";
import { formatAmount, formatGibibytes, formatMemoryShare, formatTraceTime } from "./format";
import { MemoryPicker } from "./memory_picker";
import type { Allocator, Memory } from "./payload";
import { MEMORY_PARTS } from "./timeline/plan";

interface SummaryCardProps {
  readonly memory: Memory;
  readonly select: Select;
  readonly links: Links;
}

const EVENTS = "Memory allocation and deallocation events on the host's threads.";

export function SummaryCard({ memory, select, links }: SummaryCardProps) {
  const allocator = memory.allocators[memory.chosen];
  return (
    <section class="card titled snug memory-summary" aria-label="Memory profile summary">
      <header class="card-head">
        <h2>Memory profile summary</h2>
      </header>
      <MemoryPicker memory={memory} choose={(id) => select({ memory_id: id, at_ps: null })} />
      <dl class="memory-facts">
        {figuresOf(allocator).map((figure) => (
          <Fact key={figure.label} {...figure} />
        ))}
      </dl>
      <PeakBar allocator={allocator} />
      <dl class="memory-facts" aria-label="At the peak">
        {figuresAtPeak(allocator).map((figure) => (
          <Fact key={figure.label} {...figure} isPart />
        ))}
      </dl>
      {allocator.peakProgram === "" ? null : (
        <p class="memory-notes one-line">
          Running at the peak:{" "}
          <ToolLink
            links={links}
            tool="memory_viewer"
            view={{ module_name: allocator.peakProgram }}
            title={`Show the memory of ${allocator.peakProgram.slice(0, 200)}`}
          >
            {allocator.peakProgram.slice(0, 200)}
          </ToolLink>
        </p>
      )}
      <Notes allocator={allocator} />
    </section>
  );
}

/** The figures above the parts of the peak. */
function figuresOf(allocator: Allocator): Figure[] {
  return [
    events("Allocations", allocator.allocations),
    events("Deallocations", allocator.deallocations),
    amount(
      "Memory capacity",
      allocator.capacity,
      "Stack + heap + free memory, the largest sum over all events",
      "free memory was not recorded",
    ),
    amount(
      "Peak heap usage (lifetime)",
      allocator.lifetime,
      "The most memory that was in use since the start of the program: the largest value that the allocator reported with its events, or the peak of the recording if that is larger",
    ),
    {
      ...amount(
        "Peak memory usage",
        allocator.peak,
        "The largest stack + heap after any event of the recording",
        "memory usage was not recorded",
      ),
      isKey: true,
    },
  ];
}

function figuresAtPeak(allocator: Allocator): Figure[] {
  return [
    {
      label: "Timestamp",
      value: measured(allocator.peakAt, formatTraceTime),
      note: allocator.peakStep === "" ? "" : `in step ${allocator.peakStep.slice(0, 60)}`,
      reason: "there is no peak",
      formula: "When the peak was first reached, since the start of the trace, and in which step",
      unit: "ms; s from 10 s on",
    },
    amount("Stack reservation", allocator.peakStack, "Memory reserved for the stack at the peak"),
    amount("Heap allocation", allocator.peakHeap, "Memory allocated from the heap at the peak"),
    amount(
      "Free memory",
      allocator.peakFree,
      "Memory that was free at the peak. Capacity is stack + heap + free.",
    ),
    {
      label: "Fragmentation",
      value: measured(allocator.peakFragmentation, formatMemoryShare),
      reason: "not recorded",
      formula:
        "1 − largest chunk of free memory ÷ all free memory, at the peak. Lower is better: a large request fails if no chunk is large enough, even if enough memory is free in total.",
      unit: "percent",
    },
  ];
}

function measured<T extends number>(value: T, format: (value: T) => string): string | null {
  return Number.isNaN(value) ? null : format(value);
}

function events(name: string, count: number): Figure {
  return {
    label: name,
    value: measured(count, formatCount),
    formula: `${name} during the recording, including those that the timeline does not draw`,
    unit: name.toLowerCase(),
  };
}

function amount(label: string, bytes: number, formula: string, reason = "not recorded"): Figure {
  return {
    label,
    value: measured(bytes, formatGibibytes),
    exact: bytes,
    formula,
    reason,
    unit: "GiB (2³⁰ bytes), or a smaller unit for small amounts",
  };
}

interface Figure {
  readonly label: string;
  /** null: not measured. */
  readonly value: string | null;
  readonly note?: string;
  readonly reason?: string;
  readonly formula: string;
  readonly unit: string;
  /** Bytes, in full on hover. */
  readonly exact?: number;
  readonly isKey?: boolean;
}

interface FactProps extends Figure {
  /** A part of the figure above it. */
  readonly isPart?: boolean;
}

function Fact(props: FactProps) {
  const { label, value, note, reason, formula, unit, exact = Number.NaN, isPart, isKey } = props;
  const classes = ["memory-fact", isPart ? "part" : "", isKey ? "key" : ""].join(" ");
  const title = Number.isNaN(exact) ? undefined : `${formatCount(exact)} bytes`;
  return (
    <div class={classes}>
      <dt>
        <Explained label={label} explanation={{ formula, unit, source: EVENTS }} />
        {note ? (
          <span class="memory-note muted" title={note}>
            {note}
          </span>
        ) : null}
      </dt>
      <dd title={title}>{value === null ? <NotMeasured reason={reason} /> : value}</dd>
    </div>
  );
}

function PeakBar({ allocator }: { readonly allocator: Allocator }): ComponentChildren {
  const { peakStack, peakHeap, peakFree } = allocator;
  const sizes = { stack: peakStack || 0, heap: peakHeap || 0, free: peakFree || 0 };
  const whole = sizes.stack + sizes.heap + sizes.free;
  if (!(whole > 0) || Number.isNaN(peakFree)) return null;
  return (
    <StackedBar
      label="Memory at the peak"
      parts={MEMORY_PARTS.map(({ id, label, color }) => ({
        id,
        label,
        color,
        share: sizes[id] / whole,
      }))}
    />
  );
}

function Notes({ allocator }: { readonly allocator: Allocator }) {
  const { atEnd, unmatchedFrees, reusedAddresses, isSummed } = allocator;
  const notes = [
    Number.isNaN(atEnd) ? "" : `${formatAmount(atEnd)} in use after the last event.`,
    isSummed
      ? "The allocator did not report the memory in use. It is the sum of the events, starting from 0 at the start of the recording."
      : "",
    unmatchedFrees > 0
      ? `${plural(unmatchedFrees, "deallocation")} of memory that was allocated before the recording began, or whose allocation was not recorded.`
      : "",
    reusedAddresses > 0
      ? `${plural(reusedAddresses, "allocation")} at an address that was still in use: the preceding deallocation was not recorded.`
      : "",
  ].filter((note) => note !== "");
  return (
    <div class="memory-notes muted">
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
    </div>
  );
}
