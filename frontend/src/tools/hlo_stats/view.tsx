/** The HLO op page: all instructions of the programs that ran. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { numbers, textAt, texts } from "../../api/data_table";
import { formatRatio, formatTime } from "../../base/format";
import { ratio } from "../../base/units";
import { Donut } from "../../widgets/donut/donut";
import { findSlices, type Slice } from "../../widgets/donut/slices";
import { ExportButton } from "../../widgets/grid/export_button";
import { Grid } from "../../widgets/grid/grid";
import { RowDetail } from "../../widgets/grid/row_detail";
import { TableBar } from "../../widgets/grid/table_bar";
import type { RowTest } from "../../widgets/table/filter";
import { columnName, setFilter, type TableModel, useTableModel } from "../../widgets/table/model";
import { toTrace } from "../links/trace_link";
import {
  type Instruction,
  InstructionLinks,
  instructionEvents,
} from "../programs/instruction_links";
import { PROGRAM } from "../programs/program_column";
import { SourceStack } from "../programs/source_stack";
import type { PageProps } from "../tool";
import { hloColumns } from "./columns";
import { HLO_GROUPINGS } from "./groupings";
import type { HloStats } from "./payload";

/** The columns that may have a donut chart, whose slices filter the table. */
const CHARTS = [
  ["category", "Self time by category", "category"],
  [PROGRAM, "Self time by program", "program"],
  ["bound_by", "Self time by bound", "bound"],
] as const;

export function HloStatsPage({
  title,
  payload,
  view,
  select,
  links,
  fileName,
}: PageProps<HloStats>) {
  const { table, deviceType } = payload;
  const specs = useMemo(() => hloColumns(table), [table]);
  const highlight = useSignal<RowTest | null>(null);
  const model = useTableModel({
    table,
    specs,
    groupings: HLO_GROUPINGS,
    rankBy: "total_self_time",
    noun: "op",
    view,
    select,
  });
  const charts = useMemo(() => findCharts(payload), [payload]);
  const instruction = (row: number): Instruction => ({
    name: textAt(texts(table, "hlo_op_name"), row),
    programId: textAt(texts(table, "program_id"), row),
    deviceType,
  });
  return (
    <div class="page">
      <header class="page-head">
        <h1>{title}</h1>
        <UnknownCost payload={payload} />
        <span class="space" />
        <ExportButton model={model} fileName={`hlo_stats_${fileName}`} />
      </header>
      <div class="cards">
        {charts.map(({ id, title: chart, noun, slices }) => (
          <Donut
            key={id}
            title={chart}
            slices={slices}
            noun={noun}
            highlight={highlight}
            nameOf={(slice) => columnName(model, id, slice.code)}
            chosen={chosenName(model, id)}
            choose={(slice) => choose(model, id, slice)}
          />
        ))}
      </div>
      <TableBar model={model} />
      <Grid
        model={model}
        label="HLO ops"
        highlight={highlight}
        detail={(row) => (
          <RowDetail model={model} row={row} nameId="hlo_op_name">
            <InstructionLinks links={links} of={instruction(row)} />
            <SourceStack markup={textAt(texts(table, "source_info"), row)} />
          </RowDetail>
        )}
        toTimeline={toTrace(links, (row) => instructionEvents(instruction(row)))}
      />
    </div>
  );
}

function findCharts({ table }: HloStats) {
  const own = numbers(table, "total_self_time");
  const share = numbers(table, "total_self_time_percent");
  if (!own) return [];
  return CHARTS.map(([id, title, noun]) => {
    const names = texts(table, id);
    const slices = names
      ? findSlices(names, own, (row) => share === undefined || share[row] > 0)
      : [];
    return { id, title, noun, slices };
  }).filter(({ id, slices }) => slices.length > (id === "category" ? 0 : 1));
}

function chosenName(model: TableModel, id: string): string | null {
  const filter = model.view[`f.${id}`] ?? "";
  return filter.startsWith("=") ? filter.slice(1) : null;
}

function choose(model: TableModel, id: string, slice: Slice): void {
  if (slice.isOthers) return;
  setFilter(model, id, chosenName(model, id) === slice.name ? "" : `=${slice.name}`);
}

/** The smallest unknown share that is mentioned. */
const LITTLE = 0.0005;

function UnknownCost({ payload: { unknown, total } }: { payload: HloStats }) {
  const share = total > 0 ? unknown / total : 0;
  if (share < LITTLE) return null;
  return (
    <span class="muted">
      {formatTime(unknown)} of the ops’ time ({formatRatio(ratio(share))}) has no known cost
    </span>
  );
}
