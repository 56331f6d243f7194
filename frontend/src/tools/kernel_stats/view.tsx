/** The kernel page: which kernels take the GPU's time, and how they were launched. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { numbers, textAt, texts } from "../../api/data_table";
import { formatCount, formatRatio, formatTime, NOT_MEASURED } from "../../base/format";
import { cut, readableName } from "../../base/names";
import { Donut } from "../../widgets/donut/donut";
import { findSlices, type Slice } from "../../widgets/donut/slices";
import { ExportButton } from "../../widgets/grid/export_button";
import { Grid } from "../../widgets/grid/grid";
import { RowDetail } from "../../widgets/grid/row_detail";
import { TableBar } from "../../widgets/grid/table_bar";
import { Late } from "../../widgets/late";
import type { RowTest } from "../../widgets/table/filter";
import { columnName, setFilter, type TableModel, useTableModel } from "../../widgets/table/model";
import { Figure } from "../../widgets/text/figure";
import { openInTrace, TraceLink, toTrace } from "../links/trace_link";
import { InstructionsLink } from "../programs/instructions_link";
import type { PageProps } from "../tool";
import { kernelColumns } from "./columns";
import { callsOf, kernelEvents, launchesOf } from "./kernel_links";
import "./kernel_stats.css";
import { defaultKernelGrouping, KERNEL_GROUPINGS } from "./groupings";
import type { KernelFacts, KernelStats } from "./payload";

export function KernelStatsPage(props: PageProps<KernelStats>) {
  const { title, payload, view, select, links, fileName } = props;
  const { table, facts, unit } = payload;
  const specs = useMemo(() => kernelColumns(table, unit), [table, unit]);
  const highlight = useSignal<RowTest | null>(null);
  const model = useTableModel({
    table,
    specs,
    groupings: KERNEL_GROUPINGS,
    defaultGrouping: defaultKernelGrouping,
    rankBy: "total_duration_us",
    noun: "kernel-op pair",
    view,
    select,
  });
  const slices = useMemo(() => {
    const names = texts(table, "kernel_name");
    const values = numbers(table, "total_duration_us");
    return names && values ? findSlices(names, values) : [];
  }, [table]);
  const filter = view["f.kernel_name"] ?? "";
  const chosen = filter.startsWith("=") ? filter.slice(1) : null;
  const choose = (slice: Slice) => {
    if (!slice.isOthers)
      setFilter(model, "kernel_name", chosen === slice.name ? "" : `=${slice.name}`);
  };
  return (
    <div class="page">
      <header class="page-head">
        <h1>{title}</h1>
        <span class="space" />
        <ExportButton model={model} fileName={`kernel_stats_${fileName}`} />
      </header>
      <div class="kernel-top">
        <Donut
          title="Kernels with the highest total time"
          slices={slices}
          noun="kernel"
          highlight={highlight}
          nameOf={(slice) => columnName(model, "kernel_name", slice.code)}
          chosen={chosen}
          choose={choose}
        />
        <Facts facts={facts} unit={unit} />
      </div>
      <TableBar model={model} />
      <Grid
        model={model}
        label="Kernels"
        highlight={highlight}
        detailHeight={DETAIL_HEIGHT}
        detail={(row) => rowDetail(props, model, row)}
        groupDetail={
          model.grouping?.id === "kernel" ? (rows) => groupDetail(props, rows) : undefined
        }
        toTimeline={toTrace(links, (row) => kernelEvents(table, row))}
        groupToTimeline={(rows) => {
          const launches = launchesOf(table, rows);
          if (launches) openInTrace(links, { view: launches });
        }}
      />
    </div>
  );
}

const loadDetail = () => import("./detail/kernel_detail");

/** Pixels that fit all figures of a row and its names. */
const DETAIL_HEIGHT = 256;

function rowDetail(
  { payload: { table }, run, links, ask }: PageProps<KernelStats>,
  model: TableModel,
  row: number,
) {
  return (
    <div class="kernel-row">
      <RowDetail model={model} row={row} nameId="kernel_name">
        <TraceLink links={links} view={kernelEvents(table, row)} />
        <InstructionsLink links={links} op={textAt(texts(table, "op_name"), row)} />
        <Late load={loadDetail}>
          {({ KernelCallTimes }) => (
            <KernelCallTimes run={run} ask={ask} of={callsOf(table, row)} />
          )}
        </Late>
      </RowDetail>
    </div>
  );
}

/** The detail of a kernel's group, shown above its rows. */
function groupDetail({ payload, run, links, ask }: PageProps<KernelStats>, rows: Uint32Array) {
  const { table } = payload;
  const raw = textAt(texts(table, "kernel_name"), rows[0]);
  return (
    <Late load={loadDetail}>
      {({ KernelDetail }) => (
        <KernelDetail
          table={table}
          rows={rows}
          name={cut(readableName(raw))}
          raw={raw}
          run={run}
          ask={ask}
          links={links}
        >
          <TraceLink links={links} view={launchesOf(table, rows)}>
            Show its launches in the trace viewer
          </TraceLink>
        </KernelDetail>
      )}
    </Late>
  );
}

/** The smallest unknown share that is mentioned. */
const LITTLE = 0.0005;

function Facts({ facts, unit }: { facts: KernelFacts; unit: string }) {
  const of =
    facts.unknownShare < LITTLE
      ? "of kernel time"
      : `of kernel time, excluding ${formatRatio(facts.unknownShare)} for which it is unknown`;
  const source = "All rows of the table, regardless of filters.";
  return (
    <div class="figures">
      <Figure
        title="Kernel time"
        value={formatTime(facts.total)}
        explanation={{
          formula: "Sum of the total durations",
          unit: "time on the GPU, over all streams",
          source,
        }}
      />
      <Figure
        title="Launches"
        value={formatCount(facts.launches)}
        explanation={{ formula: "Sum of the launches", unit: "launches", source }}
      />
      <Figure
        title={`${unit.replace(/s$/, "")} share`}
        value={facts.tensorCoreShare === null ? NOT_MEASURED : formatRatio(facts.tensorCoreShare)}
        note={facts.tensorCoreShare === null ? "unknown" : of}
        explanation={{
          formula: `Time of kernels that use ${unit} ÷ time of all kernels for which this is known`,
          unit: "percent",
          source: "Names of kernels, and types in the compiled programs in the trace.",
        }}
      />
      <Figure
        title="Unique kernels"
        value={formatCount(facts.kernels)}
        explanation={{ formula: "Number of distinct kernel names", unit: "kernels", source }}
      />
    </div>
  );
}
