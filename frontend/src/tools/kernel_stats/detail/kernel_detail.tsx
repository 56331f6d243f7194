/** The detail of a kernel's group: statistics of its launches, and its launch shapes. */
import type { ComponentChildren } from "preact";
import type { DataTable } from "../../../api/data_table";
import { columnScale, formatCount, formatRatio, NOT_MEASURED, plural } from "../../../base/format";
import { ratio } from "../../../base/units";
import { CopyButton } from "../../../widgets/controls/copy_button";
import { TableHead } from "../../../widgets/text/table_head";
import { EventLink } from "../../links/trace_link";
import type { Ask, Links } from "../../tool";
import { shapeEvents } from "../kernel_links";
import { KernelCallTimes } from "./call_times";
import { type LaunchShape, launchShapes } from "./launch_shapes";

export { KernelCallTimes };

interface KernelDetailProps {
  readonly table: DataTable;
  readonly rows: Uint32Array;
  readonly name: string;
  /** The name as recorded. */
  readonly raw: string;
  readonly run: string;
  readonly ask: Ask;
  readonly links: Links;
  readonly children: ComponentChildren;
}

const SHAPES = 5;

export function KernelDetail(props: KernelDetailProps) {
  const { table, rows, name, raw, run, ask, links, children } = props;
  return (
    <div class="detail">
      <div class="detail-name kernel-name">
        <code title={name}>{name}</code>
        {children}
        <CopyButton text={() => raw} label="Copy name" />
      </div>
      <KernelCallTimes run={run} ask={ask} of={{ kernel: raw }}>
        <ShapeTable table={table} shapes={launchShapes(table, rows)} links={links} />
      </KernelCallTimes>
    </div>
  );
}

interface ShapeTableProps {
  readonly table: DataTable;
  readonly shapes: readonly LaunchShape[];
  readonly links: Links;
}

function ShapeTable({ table, shapes, links }: ShapeTableProps) {
  const known = (value: number, write: (value: number) => string) =>
    Number.isNaN(value) ? NOT_MEASURED : write(value);
  const more = shapes.length - SHAPES;
  const totals = shapes.map(({ total }) => total);
  const scale = columnScale("time", Math.max(...totals), "", totals);
  const titles = ["Block", "Grid", "Registers", "Shared (B)", "Occupancy", "Launches"];
  return (
    <>
      <table class="kernel-table">
        <TableHead titles={[...titles, `Total (${scale.unit})`]} />
        <tbody>
          {shapes.slice(0, SHAPES).map((shape) => (
            <tr key={shape.row}>
              <td>{shape.block}</td>
              <td>{shape.grid}</td>
              <td>{known(shape.registers, formatCount)}</td>
              <td>{known(shape.sharedBytes, formatCount)}</td>
              <td>{known(shape.occupancy, (pct) => formatRatio(ratio(pct / 100)))}</td>
              <td>
                <EventLink links={links} view={shapeEvents(table, shape.row)}>
                  {formatCount(shape.launches)}
                </EventLink>
              </td>
              <td>{scale.format(shape.total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 ? (
        <p class="muted">{plural(more, "more launch shape")}; the rows are below.</p>
      ) : null}
    </>
  );
}
