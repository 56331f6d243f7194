/** The table of all input ops with their work and waiting times. */
import { ExportButton } from "../../../widgets/grid/export_button";
import { Grid } from "../../../widgets/grid/grid";
import { RowDetail } from "../../../widgets/grid/row_detail";
import { TableBar } from "../../../widgets/grid/table_bar";
import { useTableModel } from "../../../widgets/table/model";
import { TraceLink, toTrace } from "../../links/trace_link";
import { inputEvents } from "../../links/trace_links";
import type { PageProps } from "../../tool";
import type { InputPipeline } from "../payload";
import { OP_COLUMNS, OP_GROUPINGS } from "./op_columns";

/** The height of the table with its heading and toolbar, in CSS pixels. */
const LEAST = 340;
const MOST = 520;
const FRAME = 150;
const ROW = 28;

export function OpTable({ payload, view, select, links, fileName }: PageProps<InputPipeline>) {
  const model = useTableModel({
    table: payload.ops,
    specs: OP_COLUMNS,
    groupings: OP_GROUPINGS,
    rankBy: "workTimeInMs",
    noun: "input op",
    view,
    select,
  });
  return (
    <section
      class="pipeline-ops"
      aria-label="Input ops"
      style={{ height: `${Math.max(LEAST, Math.min(FRAME + payload.ops.length * ROW, MOST))}px` }}
    >
      <header class="page-head">
        <h2>Input ops</h2>
        <span class="space" />
        <ExportButton model={model} fileName={`input_ops_${fileName}`} />
      </header>
      <TableBar model={model} />
      <Grid
        model={model}
        label="Input ops"
        detail={(row) => (
          <RowDetail model={model} row={row} nameId="opName">
            <TraceLink links={links} view={inputEvents(payload.ops, row)} />
          </RowDetail>
        )}
        toTimeline={toTrace(links, (row) => inputEvents(payload.ops, row))}
      />
    </section>
  );
}
