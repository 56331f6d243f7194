/** What a kernel's group opens: how long its launches lasted, and how it was launched. */
import type { ComponentChildren } from "preact";
import type { DataTable } from "../../api/data_table";
import { formatCount, formatRatio, formatTime, NOT_MEASURED, plural } from "../../base/format";
import { microseconds, ratio } from "../../base/units";
import { CopyButton } from "../../widgets/text/copy_button";
import { type Durations, type LaunchShape, launchShapes, singleDurations } from "./launch_shapes";

interface KernelDetailProps {
  readonly table: DataTable;
  readonly rows: Uint32Array;
  readonly name: string;
  /** As it is recorded. */
  readonly raw: string;
  readonly children: ComponentChildren;
}

const SHAPES = 5;
const [WIDTH, HEIGHT] = [240, 56];

export function KernelDetail({ table, rows, name, raw, children }: KernelDetailProps) {
  const shapes = launchShapes(table, rows);
  const durations = singleDurations(table, rows);
  return (
    <div class="detail">
      <div class="detail-name">
        <code>{name}</code>
        <CopyButton text={() => raw} label="Copy name" />
      </div>
      {children}
      <div class="kernel-detail">
        {durations ? <Histogram durations={durations} launches={rows.length} /> : null}
        <ShapeTable shapes={shapes} />
      </div>
    </div>
  );
}

function Histogram({ durations, launches }: { durations: Durations; launches: number }) {
  const { bins, least, most, median, deviation } = durations;
  const highest = Math.max(...bins);
  const wide = WIDTH / bins.length;
  const time = (value: number) => formatTime(microseconds(value));
  const text = `Median ${time(median)}, σ ${time(deviation)}`;
  return (
    <figure class="kernel-durations">
      <figcaption>
        {formatCount(launches)} launches · {text}
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={text}
      >
        {bins.map((count, at) => {
          const height = count === 0 ? 0 : Math.max((count / highest) * HEIGHT, 2);
          return (
            <rect key={at} x={at * wide} y={HEIGHT - height} width={wide - 1} height={height}>
              <title>{formatCount(count)}</title>
            </rect>
          );
        })}
      </svg>
      <div class="kernel-range muted">
        <span>{time(least)}</span>
        <span>{time(most)}</span>
      </div>
    </figure>
  );
}

function ShapeTable({ shapes }: { shapes: readonly LaunchShape[] }) {
  const known = (value: number, write: (value: number) => string) =>
    Number.isNaN(value) ? NOT_MEASURED : write(value);
  const more = shapes.length - SHAPES;
  return (
    <div>
      <table class="kernel-shapes">
        <thead>
          <tr>
            {[
              "Block",
              "Grid",
              "Registers",
              "Shared memory (B)",
              "Occupancy",
              "Ops",
              "Launches",
            ].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
            <th scope="col">Total</th>
          </tr>
        </thead>
        <tbody>
          {shapes.slice(0, SHAPES).map((shape, at) => (
            <tr key={at}>
              <td>{shape.block}</td>
              <td>{shape.grid}</td>
              <td>{known(shape.registers, formatCount)}</td>
              <td>{known(shape.sharedBytes, formatCount)}</td>
              <td>{known(shape.occupancy, (pct) => formatRatio(ratio(pct / 100)))}</td>
              <td>{formatCount(shape.ops)}</td>
              <td>{formatCount(shape.launches)}</td>
              <td>{formatTime(microseconds(shape.total))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 ? (
        <p class="muted">{plural(more, "more launch shape")}; the rows are below.</p>
      ) : null}
    </div>
  );
}
