/** The arrays in memory at the peak, after the chosen event, or at any time. */
import { useId } from "preact/hooks";
import { formatBytes, formatCount } from "../../base/format";
import { bytes } from "../../base/units";
import type { View } from "../../base/url_state";
import { LinkButton, SmallButton } from "../../widgets/controls/buttons";
import { ExportButton } from "../../widgets/grid/export_button";
import { Grid } from "../../widgets/grid/grid";
import { RowDetail } from "../../widgets/grid/row_detail";
import { TableBar } from "../../widgets/grid/table_bar";
import { Explained } from "../../widgets/overlays/why";
import { useTableModel } from "../../widgets/table/model";
import { ToolLink } from "../links/tool_link";
import type { Links, Select } from "../tool";
import { LIVE_COLUMNS, LIVE_GROUPINGS } from "./live_columns";
import type { Heap } from "./payload";

interface LiveCardProps {
  readonly heap: Heap;
  readonly view: View;
  readonly select: Select;
  readonly links: Links;
  readonly fileName: string;
}

/** The height of the table with its heading and toolbar, in CSS pixels. */
const LEAST = 300;
const MOST = 620;
const FRAME = 150;
const ROW = 28;

export function LiveCard({ heap, view, select, links, fileName }: LiveCardProps) {
  const { live, program } = heap;
  const { table } = live;
  const id = useId();
  const model = useTableModel({
    table,
    specs: LIVE_COLUMNS,
    groupings: LIVE_GROUPINGS,
    rankBy: "size_bytes",
    noun: "array",
    view,
    select,
  });
  const toGraph = (row: number): View => ({
    program_id: program?.id ?? "",
    node_name: live.instruction[row],
  });
  return (
    <section
      class="heap-live"
      aria-labelledby={id}
      style={{ height: `${Math.max(LEAST, Math.min(FRAME + table.length * ROW, MOST))}px` }}
    >
      <header class="page-head heap-live-head">
        <h2 id={id}>
          <Explained
            label="In memory"
            explanation={{
              formula:
                "The content of memory after the chosen heap event: parameters, results and constants, which stay throughout, and the temporary arrays allocated at that point. The rows add up to the memory in use.",
              unit: "bytes",
              source: "The buffer assignment of the program in the trace.",
            }}
          />
        </h2>
        <InstantText heap={heap} select={select} />
        <span class="space" />
        <SmallButton
          aria-pressed={live.isAll}
          onClick={() => select({ instant: live.isAll ? null : "all" })}
        >
          All arrays
        </SmallButton>
        <ExportButton model={model} fileName={`${fileName}_arrays`} />
      </header>
      <TableBar model={model} />
      <Grid
        model={model}
        label="In memory"
        detail={(row) => (
          <RowDetail model={model} row={row} nameId="instruction">
            <p class="detail-links">
              <ToolLink
                links={links}
                tool="graph_viewer"
                view={toGraph(row)}
                title="Show the instruction with its operands and users"
              >
                Show in graph
              </ToolLink>
            </p>
          </RowDetail>
        )}
      />
    </section>
  );
}

/** "496 MiB in use after event 9 (loop_reduce_fusion), the peak". */
function InstantText({ heap, select }: { readonly heap: Heap; readonly select: Select }) {
  const { live, figures } = heap;
  const back = <LinkButton onClick={() => select({ instant: null })}>Back to the peak</LinkButton>;
  if (live.isAll)
    return (
      <p class="heap-instant-text one-line" role="status">
        {formatCount(live.table.length)} arrays over the whole program {back}
      </p>
    );
  const at =
    figures.events === 0
      ? " throughout"
      : ` after event ${formatCount(live.event)} (${live.at.slice(0, 120)})`;
  return (
    <p class="heap-instant-text one-line" role="status">
      <b>{formatBytes(bytes(live.inUse))}</b> in use{at}
      {live.isPeak && figures.events > 0 ? ", the peak" : ""} {live.isPeak ? null : back}
    </p>
  );
}
