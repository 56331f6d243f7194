/** The op stats page: the time of ops on hosts and devices. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { textAt, texts } from "../../api/data_table";
import { Switch } from "../../widgets/controls/buttons";
import { Donut } from "../../widgets/donut/donut";
import type { Slice } from "../../widgets/donut/slices";
import { ExportButton } from "../../widgets/grid/export_button";
import { Grid } from "../../widgets/grid/grid";
import { RowDetail } from "../../widgets/grid/row_detail";
import { TableBar } from "../../widgets/grid/table_bar";
import type { RowTest } from "../../widgets/table/filter";
import { columnName, setFilter, useTableModel } from "../../widgets/table/model";
import { TraceLink, toTrace } from "../links/trace_link";
import { opEvents } from "../links/trace_links";
import { InstructionsLink } from "../programs/instructions_link";
import type { PageProps } from "../tool";
import { CallsTable } from "./calls_table";
import { findCharts, type OpChart, sliceFilter } from "./charts";
import { opColumns } from "./columns";
import { defaultOpGrouping, OP_GROUPINGS } from "./groupings";
import type { OpStats } from "./payload";

export function OpStatsPage(props: PageProps<OpStats>) {
  const { title } = props;
  const { withIdle, calls } = props.payload;
  if (withIdle.length > 0 || calls === null) return <OpsPage {...props} />;
  return (
    <div class="page">
      <h1>{title}</h1>
      <p class="muted">The trace has no ops. The program's calls and annotations are below.</p>
      <CallsTable table={calls} links={props.links} />
    </div>
  );
}

function OpsPage({ title, payload, view, select, links, fileName }: PageProps<OpStats>) {
  const hasIdle = view.idle === "1";
  const table = hasIdle ? payload.withIdle : payload.withoutIdle;
  const specs = useMemo(() => opColumns(table), [table]);
  const highlight = useSignal<RowTest | null>(null);
  const charts = useMemo(() => findCharts(table), [table]);
  const model = useTableModel({
    table,
    specs,
    groupings: OP_GROUPINGS,
    defaultGrouping: defaultOpGrouping,
    sectionBy: "host_or_device",
    rankBy: "total_self_time",
    noun: "op",
    view,
    select,
  });
  const choose = (chart: OpChart, slice: Slice) => {
    if (slice.isOthers) return;
    const isChosen = chosenName(chart, view) === slice.name;
    select({ "f.host_or_device": isChosen ? null : `=${chart.side}` });
    setFilter(model, chart.id, isChosen ? "" : sliceFilter(chart, slice));
  };
  return (
    <div class={payload.calls ? "page two-tables" : "page"}>
      <header class="page-head">
        <div>
          <h1>{title}</h1>
          {payload.isTensorFlow ? <p class="page-also">TensorFlow stats</p> : null}
        </div>
        <Switch isOn={hasIdle} turn={(isOn) => select({ idle: isOn ? "1" : null })}>
          Include idle time
        </Switch>
        <span class="space" />
        <ExportButton model={model} fileName={`framework_op_stats_${fileName}`} />
      </header>
      <div class="cards">
        {charts.map((chart) => (
          <Donut
            key={chart.title}
            title={chart.title}
            slices={chart.slices}
            noun={chart.noun}
            highlight={highlight}
            nameOf={(slice) =>
              chart.isFolded ? slice.name : columnName(model, chart.id, slice.code)
            }
            chosen={chosenName(chart, view)}
            choose={(slice) => choose(chart, slice)}
          />
        ))}
      </div>
      <TableBar model={model} />
      <Grid
        model={model}
        label="Ops"
        highlight={highlight}
        detail={(row) => (
          <RowDetail model={model} row={row} nameId="operation">
            <TraceLink links={links} view={opEvents(table, row)} />
            <InstructionsLink links={links} op={textAt(texts(table, "operation"), row)} />
          </RowDetail>
        )}
        toTimeline={toTrace(links, (row) => opEvents(table, row))}
      />
      {payload.calls && <CallsTable table={payload.calls} links={links} />}
    </div>
  );
}

/** The name of the slice that the table is filtered by. */
function chosenName(chart: OpChart, view: PageProps<OpStats>["view"]): string | null {
  if (view["f.host_or_device"] !== `=${chart.side}`) return null;
  const text = view[`f.${chart.id}`] ?? "";
  const chosen = chart.slices.find((slice) => text === sliceFilter(chart, slice));
  return chosen?.name ?? null;
}
