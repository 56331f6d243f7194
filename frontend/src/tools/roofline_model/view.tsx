/** The roofline page: how close instructions and programs are to the limits of the device. */
import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { textAt, texts } from "../../api/data_table";
import { SmallButton, Switch } from "../../widgets/controls/buttons";
import { ExportButton } from "../../widgets/grid/export_button";
import { Grid } from "../../widgets/grid/grid";
import { LocalTable } from "../../widgets/grid/local_table";
import { RowDetail } from "../../widgets/grid/row_detail";
import { TableBar } from "../../widgets/grid/table_bar";
import { formatPower } from "../../widgets/scatter/points";
import { Scatter } from "../../widgets/scatter/scatter";
import type { RowTest } from "../../widgets/table/filter";
import { useTableModel } from "../../widgets/table/model";
import { Sentence } from "../../widgets/text/sentence";
import { toTrace } from "../links/trace_link";
import {
  type Instruction,
  InstructionLinks,
  instructionEvents,
} from "../programs/instruction_links";
import { SourceStack } from "../programs/source_stack";
import type { PageProps } from "../tool";
import { KindLegend, NotDrawn, Peaks } from "./beside_chart";
import { ROOFLINE_GROUPINGS, rooflineColumns } from "./columns";
import type { Roofline } from "./payload";
import { PER, perOf } from "./per";
import { PointCard, pointText } from "./point_card";
import { findPoints, findRoofs, KINDS, usedRoof } from "./roofline_points";
import { summarize } from "./summary";
import "./roofline.css";

const HEIGHT = 380;
/** The column that colors stand for if marks are not ops. */
const KIND_OF = { program: "operation", step: "bound_by" } as const;
const X = { title: "Operational intensity (FLOP per byte of main memory)", format: formatPower };
const Y = { title: "FLOP/s", format: formatPower };
const WHY = {
  formula:
    "Horizontal axis: operations ÷ bytes of main memory. Vertical axis: operations ÷ working " +
    "time. The area of a mark is its self time. Lines are peaks: of operations on a type, or of " +
    "a memory's bandwidth × intensity. An op on its lowest line is at the limit of the device.",
  unit: "logarithmic axes",
  source:
    "Counts recorded by the device, or derived from the shapes in the program. Peaks are " +
    "listed beside the chart with their sources.",
};

export function RooflinePage(props: PageProps<Roofline>) {
  const { title, payload, view, select, links, fileName } = props;
  const { table, whole, peaks } = payload;
  const per = perOf(view.per);
  const { noun, plural, title: marks } = PER[per];
  const hasSteps = per === "step" || links.reason("pod_viewer") === null;
  const specs = useMemo(() => rooflineColumns(table, per), [table, per]);
  const pointed = useSignal<number | null>(null);
  const opened = useSignal<number | null>(null);
  const model = useTableModel({
    table,
    specs,
    groupings: per === "op" ? ROOFLINE_GROUPINGS : [],
    rankBy: "total_self_time",
    noun,
    view,
    select,
  });
  const kindId = KINDS.find(([id]) => id === view.color)?.[0] ?? "category";
  const plotted = useMemo(
    () => findPoints(table, model.matched, per === "op" ? kindId : KIND_OF[per]),
    [table, model.matched, kindId, per],
  );
  const roofs = useMemo(() => findRoofs(peaks, usedRoof(table)), [peaks, table]);
  const sentences = useMemo(
    () =>
      payload.noSteps === ""
        ? summarize(table, whole, peaks.length > 0, plural)
        : [payload.noSteps],
    [payload, plural],
  );
  // The chart identifies points, the table rows.
  const pointAt = (row: number | null) => {
    const point = row === null ? -1 : plotted.pointOf[row];
    pointed.value = point >= 0 ? point : null;
  };
  const rows = useSignal(plotted.rowOf);
  rows.value = plotted.rowOf;
  const highlight = useComputed<RowTest | null>(() => {
    const row = pointed.value === null ? undefined : rows.value[pointed.value];
    return row === undefined ? null : (other) => other === row;
  });
  const instruction = (row: number): Instruction => ({
    name: per === "op" ? textAt(texts(table, "operation"), row) : "",
    programId: textAt(texts(table, "hlo_module_id"), row),
    deviceType: payload.deviceType,
  });
  return (
    <div class="page two-tables">
      <header class="page-head">
        <h1>{title}</h1>
        <Choices label="Show">
          {(["op", "program", ...(hasSteps ? ["step" as const] : [])] as const).map((id) => (
            <SmallButton
              key={id}
              aria-pressed={per === id}
              onClick={() =>
                select({
                  per: id === "op" ? null : id,
                  group: null,
                  ...(id === "step" && { feeds: null }),
                })
              }
            >
              {PER[id].title}
            </SmallButton>
          ))}
        </Choices>
        {payload.hasFeeds && per !== "step" ? (
          <Switch isOn={view.feeds !== "0"} turn={(isOn) => select({ feeds: isOn ? null : "0" })}>
            Include infeed and outfeed
          </Switch>
        ) : null}
        <span class="space" />
        <ExportButton model={model} fileName={`roofline_model_${fileName}`} />
      </header>
      <section class="card roofline-summary" aria-label="Summary">
        {sentences.map((sentence) => (
          <p key={sentence}>
            <Sentence text={sentence} />
          </p>
        ))}
      </section>
      <Scatter
        title={`${marks} under their roofs`}
        explanation={WHY}
        points={plotted.points}
        kinds={plotted.kinds}
        roofs={roofs}
        x={X}
        y={Y}
        height={HEIGHT}
        pointed={pointed}
        choose={(point) => {
          opened.value = plotted.rowOf[point] ?? null;
        }}
        card={(point) => <PointCard table={table} row={plotted.rowOf[point]} />}
        textOf={(point) => pointText(table, plotted.rowOf[point])}
        fileName={`roofline_${fileName}`}
        table={() => (
          <LocalTable
            label="Points of the roofline"
            table={table}
            specs={specs}
            rankBy="total_self_time"
            noun={noun}
            height={HEIGHT}
          />
        )}
        head={
          per === "op" ? (
            <Choices label="Color by">
              {KINDS.map(([id, label]) => (
                <SmallButton
                  key={id}
                  aria-pressed={kindId === id}
                  onClick={() => select({ color: id === "category" ? null : id })}
                >
                  {label}
                </SmallButton>
              ))}
            </Choices>
          ) : null
        }
      >
        <aside class="roofline-aside" style={{ height: `${HEIGHT}px` }}>
          <KindLegend kinds={plotted.kinds} />
          <NotDrawn
            table={table}
            absent={plotted.absent}
            noun={noun}
            open={(row) => {
              opened.value = row;
            }}
          />
          <Peaks peaks={peaks} deviceName={payload.deviceName} />
        </aside>
      </Scatter>
      <TableBar model={model} />
      <Grid
        model={model}
        label={`${marks} of the roofline`}
        highlight={highlight}
        pointAt={pointAt}
        opened={opened}
        detail={(row) => (
          <RowDetail model={model} row={row} nameId="operation">
            {per === "op" ? <InstructionLinks links={links} of={instruction(row)} /> : null}
            <SourceStack markup={textAt(texts(table, "source_info"), row)} />
          </RowDetail>
        )}
        toTimeline={toTrace(links, (row) => instructionEvents(instruction(row)))}
      />
    </div>
  );
}

function Choices({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <span class="choices" role="group" aria-label={label}>
      <span class="muted">{label}:</span>
      {children}
    </span>
  );
}
