/** The memory in use at the chosen instant, as a table or a treemap. */
import { useId } from "preact/hooks";
import { textAt, texts } from "../../../api/data_table";
import type { View } from "../../../base/url_state";
import { LinkButton, SmallButton } from "../../../widgets/controls/buttons";
import { ExportButton } from "../../../widgets/grid/export_button";
import { Grid } from "../../../widgets/grid/grid";
import { RowDetail } from "../../../widgets/grid/row_detail";
import { TableBar } from "../../../widgets/grid/table_bar";
import { Explained } from "../../../widgets/overlays/why";
import { setFilter, useTableModel } from "../../../widgets/table/model";
import { ToolLink } from "../../links/tool_link";
import { allocationEvents, TRACE } from "../../links/trace_links";
import type { Links, Select } from "../../tool";
import { formatAmount, formatTraceTime } from "../format";
import type { Memory } from "../payload";
import { lastPointBefore } from "../timeline/plan";
import { AGES, OUTSIDE } from "./breakdown";
import { BREAKDOWN_COLUMNS, BREAKDOWN_GROUPINGS } from "./columns";
import { Treemap } from "./treemap";

interface BreakdownCardProps {
  readonly memory: Memory;
  readonly view: View;
  readonly select: Select;
  readonly links: Links;
  readonly isLoading: boolean;
  readonly fileName: string;
}

/** The height of the table with its heading and toolbar, in CSS pixels. */
const LEAST = 340;
const MOST = 620;
const FRAME = 150;
const ROW = 28;

export function BreakdownCard(props: BreakdownCardProps) {
  const { memory, view, select, links, isLoading, fileName } = props;
  const { breakdown } = memory;
  const { table } = breakdown;
  const id = useId();
  const model = useTableModel({
    table,
    specs: BREAKDOWN_COLUMNS,
    groupings: BREAKDOWN_GROUPINGS,
    rankBy: "allocated_bytes",
    noun: "row",
    view,
    select,
  });
  const isMap = view.map === "1";
  const { host } = memory.allocators[memory.chosen];
  const hosts = memory.hosts.length > 1 && host !== "" ? [host] : undefined;
  const eventsOf = (row: number): View | null => {
    const age = textAt(texts(table, "age"), row);
    const isRecorded = age === OUTSIDE || AGES.slice(0, 2).some(({ label }) => label === age);
    return isRecorded ? allocationEvents(textAt(texts(table, "op"), row)) : null;
  };
  const toTimeline = (row: number) => {
    const events = eventsOf(row);
    if (events !== null && links.reason(TRACE) === null) links.open(TRACE, events, hosts);
  };
  return (
    <section
      class="memory-breakdown"
      aria-labelledby={id}
      aria-busy={isLoading}
      style={
        isMap
          ? undefined
          : { height: `${Math.max(LEAST, Math.min(FRAME + table.length * ROW, MOST))}px` }
      }
    >
      <header class="page-head memory-breakdown-head">
        <h2 id={id}>
          <Explained
            label="Memory breakdown"
            explanation={{
              formula:
                "All allocations in use at the instant; those with the same op, region type, data type, shape and age are one row. The rest of the memory in use was allocated before the recording began. The rows add up to the memory in use.",
              unit: "bytes",
              source: "Memory allocation and deallocation events, matched by address.",
            }}
          />
        </h2>
        <InstantText memory={memory} select={select} />
        <span class="space" />
        <span class="joined" role="group" aria-label="Show as">
          {[["Table", false] as const, ["Treemap", true] as const].map(([label, isOn]) => (
            <SmallButton
              key={label}
              aria-pressed={isMap === isOn}
              onClick={() => select({ map: isOn ? "1" : null })}
            >
              {label}
            </SmallButton>
          ))}
        </span>
        <ExportButton model={model} fileName={`${fileName}_breakdown`} />
      </header>
      <TableBar model={model} />
      {isMap ? (
        <Treemap
          model={model}
          choose={({ filter }) => {
            if (filter)
              setFilter(
                model,
                filter.id,
                view[`f.${filter.id}`] === filter.text ? "" : filter.text,
              );
          }}
        />
      ) : (
        <Grid
          model={model}
          label="Memory breakdown"
          detail={(row) => (
            <RowDetail model={model} row={row} nameId="op">
              <TraceNote links={links} view={eventsOf(row)} hosts={hosts} />
            </RowDetail>
          )}
          toTimeline={toTimeline}
        />
      )}
    </section>
  );
}

interface TraceNoteProps {
  readonly links: Links;
  readonly view: View | null;
  readonly hosts: readonly string[] | undefined;
}

function TraceNote({ links, view, hosts }: TraceNoteProps) {
  if (view === null) return <p class="muted">The trace does not contain its allocation.</p>;
  return (
    <p class="detail-links">
      <ToolLink
        links={links}
        tool={TRACE}
        view={view}
        hosts={hosts}
        title="Highlight the op's memory events in the trace viewer (g)"
      >
        Show in the trace viewer
      </ToolLink>
    </p>
  );
}

/** "5.78 GiB in use at 2,586.982 ms, the peak". */
function InstantText({ memory, select }: { readonly memory: Memory; readonly select: Select }) {
  const { breakdown, steps } = memory;
  if (Number.isNaN(breakdown.at)) return null;
  const step = lastPointBefore(steps.begin, breakdown.at);
  const inStep =
    step >= 0 && breakdown.at < steps.end[step]
      ? ` in step ${steps.labels[step].slice(0, 60)}`
      : "";
  return (
    <p class="memory-instant-text one-line" role="status">
      <b>{formatAmount(breakdown.inUse)}</b> in use at {formatTraceTime(breakdown.at)}
      {inStep}
      {breakdown.isPeak ? ", the peak" : ""}
      {breakdown.isPeak ? null : (
        <LinkButton onClick={() => select({ at_ps: null })}>Back to the peak</LinkButton>
      )}
    </p>
  );
}
