/** The table of the program's calls and annotations, which are not ops. */
import type { DataTable } from "../../api/data_table";
import { LocalTable } from "../../widgets/grid/local_table";
import type { ColumnSpec } from "../../widgets/table/columns";
import { numberSpec, TIME_UNIT, textSpec } from "../../widgets/table/specs";
import { toTrace } from "../links/trace_link";
import { callEvents } from "../links/trace_links";
import type { Links } from "../tool";

/** CSS pixels of a row, of head and foot, and the maximum height; more rows scroll. */
const ROW = 28;
const FRAME = 72;
const HEIGHT = 240;

const time = (id: string, title: string, formula: string): ColumnSpec => ({
  ...numberSpec(id, title, "time", 112, "none"),
  explanation: { formula, unit: TIME_UNIT, source: "Events of the program's own threads" },
});

const SPECS: readonly ColumnSpec[] = [
  { ...textSpec("operation", "Name", 320, true), isName: true, isSticky: true },
  textSpec("type", "Kind", 150, true),
  numberSpec("occurrences", "Occurrences", "count", 112),
  time("total_time", "Total", "Sum of the durations of all calls"),
  {
    ...time("total_self_time", "Self", "Total minus the calls of this table that are nested in it"),
    group: { how: "sum" },
  },
  time("avg_time", "Avg.", "Total ÷ occurrences"),
];

export function CallsTable({ table, links }: { readonly table: DataTable; readonly links: Links }) {
  return (
    <section aria-label="Calls and annotations" style={{ paddingBottom: "16px" }}>
      <header class="page-head">
        <h2>Calls and annotations</h2>
      </header>
      <LocalTable
        label="Calls and annotations"
        table={table}
        specs={SPECS}
        rankBy="total_self_time"
        noun="name"
        height={Math.min(FRAME + table.length * ROW, HEIGHT)}
        toTimeline={toTrace(links, (row) => callEvents(table, row))}
      />
    </section>
  );
}
