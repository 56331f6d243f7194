/** Shares of a whole as a donut chart with a legend, or as a table. */
import type { Signal } from "@preact/signals";
import { useId, useState } from "preact/hooks";
import { formatRatio, formatTime, plural } from "../../base/format";
import { chooseColors } from "../../base/palette";
import { microseconds, ratio } from "../../base/units";
import { ChartMenu } from "../chart/chart_menu";
import type { RowTest } from "../table/filter";
import { Name } from "../text/name";
import { TableHead } from "../text/table_head";
import { ringPaths } from "./ring";
import type { Slice } from "./slices";

interface DonutProps {
  readonly title: string;
  readonly slices: readonly Slice[];
  /** What a name is: "op", "op type", "kernel". */
  readonly noun: string;
  readonly highlight: Signal<RowTest | null>;
  /** The name of a slice as shown in the table. */
  readonly nameOf: (slice: Slice) => string;
  /** Filters the table by the slice. */
  readonly choose: (slice: Slice) => void;
  /** The name that the table is filtered by. */
  readonly chosen: string | null;
}

const OUTER = 60;
const INNER = 38;

export function Donut(props: DonutProps) {
  const { title, slices, highlight } = props;
  const id = useId();
  const [isTable, setTable] = useState(false);
  const [pointed, setPointed] = useState(-1);
  const colors = sliceColors(slices);
  const paths = ringPaths(
    slices.map((slice) => slice.share),
    OUTER,
    INNER,
  );
  const total = slices.reduce((sum, slice) => sum + slice.value, 0);
  const point = (at: number) => {
    setPointed(at);
    highlight.value = at < 0 ? null : slices[at].has;
  };
  const picture = {
    title,
    slices,
    colors,
    labels: slices.map((slice) => label(slice, props)),
  };
  return (
    <section class="card titled snug donut" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <ChartMenu
          title={title}
          isTable={isTable}
          setTable={setTable}
          fileName={title}
          picture={async () => (await import("./picture")).drawSvg(picture)}
        />
      </header>
      {isTable ? (
        <SliceTable {...props} />
      ) : (
        // biome-ignore lint/a11y/noStaticElementInteractions: only ends what the buttons within began
        <div class="donut-body" onMouseLeave={() => point(-1)}>
          <svg class="ring" viewBox="-62 -62 124 124" role="img" aria-label={summary(props, total)}>
            {paths.map((path, index) => (
              // biome-ignore lint/a11y/noStaticElementInteractions: the legend holds the same as buttons
              <path
                key={slices[index].name}
                d={path}
                style={{ fill: colors[index] }}
                class={pointed >= 0 && pointed !== index ? "faded" : ""}
                onMouseEnter={() => point(index)}
                onClick={() => props.choose(slices[index])}
              />
            ))}
            <text class="ring-total" y="-2">
              {formatTime(microseconds(total))}
            </text>
            <text class="ring-note" y="12">
              total
            </text>
          </svg>
          <ul class="plain legend">
            {slices.map((slice, index) => (
              <li key={slice.name}>
                <button
                  type="button"
                  class={pointed === index ? "pointed" : ""}
                  aria-pressed={slice.isOthers ? undefined : slice.name === props.chosen}
                  aria-disabled={slice.isOthers}
                  onMouseEnter={() => point(index)}
                  onFocus={() => point(index)}
                  onBlur={() => point(-1)}
                  onClick={() => props.choose(slice)}
                >
                  <span class="swatch" style={{ background: colors[index] }} />
                  <Name text={label(slice, props)} full={slice.name || undefined} />
                  <span class="legend-share">{formatRatio(ratio(slice.share))}</span>
                </button>
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

function SliceTable(props: DonutProps) {
  const { slices, noun } = props;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <div class="slice-table" tabIndex={0} role="region" aria-label={`Shares by ${noun}`}>
      <table>
        <TableHead titles={[noun, "Time", "Share"]} />
        <tbody>
          {slices.map((slice) => (
            <tr key={slice.name}>
              <td>
                <Name text={label(slice, props)} full={slice.name || undefined} />
              </td>
              <td>{formatTime(microseconds(slice.value))}</td>
              <td>{formatRatio(ratio(slice.share))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function sliceColors(slices: readonly Slice[]): string[] {
  const named = chooseColors(slices.filter((slice) => !slice.isOthers).map((slice) => slice.name));
  return slices.map((slice, index) => (slice.isOthers ? "var(--c-others)" : named[index]));
}

function label(slice: Slice, { noun, nameOf }: DonutProps): string {
  if (slice.isOthers) return `${plural(slice.names, "other")}`;
  return slice.name === "" ? `(no ${noun})` : nameOf(slice);
}

function summary(props: DonutProps, total: number): string {
  const first = props.slices[0];
  const lead = first
    ? ` Largest: ${label(first, props).slice(0, 80)}, ${formatRatio(ratio(first.share))}.`
    : "";
  return `${props.title}: ${formatTime(microseconds(total))} in total.${lead}`;
}
