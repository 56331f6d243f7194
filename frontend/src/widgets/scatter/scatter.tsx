/** A scatter plot with logarithmic axes and roofs. */
import { type Signal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { bindKeys, runKey } from "../../base/keys";
import { watchColors } from "../../base/theme";
import { ChartMenu } from "../chart/chart_menu";
import { canvasPen } from "../chart/pen";
import { useWidth } from "../chart/use_size";
import { SmallButton } from "../controls/buttons";
import type { Explanation } from "../table/columns";
import { Card } from "../text/card";
import "./scatter.css";
import {
  drawPointed,
  drawScatter,
  markRadii,
  places,
  plotBox,
  type ScatterPicture,
  scatterColors,
} from "./draw_scatter";
import {
  type Axis,
  type PointKind,
  type Range,
  type Roof,
  type ScatterPoints,
  wholeRange,
} from "./points";
import { scatterKeys } from "./scatter_keys";

interface ScatterProps {
  readonly title: string;
  readonly explanation: Explanation;
  /** Must be the same objects while their content does not change. */
  readonly points: ScatterPoints;
  readonly kinds: readonly PointKind[];
  readonly roofs: readonly Roof[];
  readonly x: Axis;
  readonly y: Axis;
  readonly height: number;
  /** The point under the pointer or chosen by keys; a list of the points may set it, too. */
  readonly pointed: Signal<number | null>;
  readonly choose: (point: number) => void;
  /** The content of a point's card. */
  readonly card: (point: number) => ComponentChildren;
  /** The same as a sentence, for screen readers. */
  readonly textOf: (point: number) => string;
  /** The points as a table. */
  readonly table: () => ComponentChildren;
  readonly fileName: string;
  /** At the right of the title. */
  readonly head?: ComponentChildren;
  /** Beside the chart. */
  readonly children?: ComponentChildren;
}

export function Scatter(props: ScatterProps) {
  const { title, points, kinds, roofs, x, y } = props;
  const [isTable, setTable] = useState(false);
  const whole = useMemo(() => wholeRange(points, roofs), [points, roofs]);
  const [zoomed, setZoomed] = useState<Range | null>(null);
  // Other points have another range.
  useEffect(() => setZoomed(null), [whole]);
  const range = zoomed ?? whole;
  return (
    <Card
      class="scatter"
      title={title}
      why={props.explanation}
      head={
        <>
          {props.head}
          <span class="space" />
          {zoomed ? <SmallButton onClick={() => setZoomed(null)}>All points</SmallButton> : null}
          <ChartMenu
            title={title}
            isTable={isTable}
            setTable={setTable}
            fileName={props.fileName}
            picture={async () =>
              (await import("./picture")).drawSvg(title, { points, kinds, roofs, x, y, range })
            }
          />
        </>
      }
    >
      <div class="scatter-body">
        {isTable ? (
          <div class="scatter-plot" style={{ height: `${props.height}px` }}>
            {props.table()}
          </div>
        ) : (
          <Plot {...props} range={range} whole={whole} zoom={setZoomed} />
        )}
        {props.children}
      </div>
    </Card>
  );
}

interface PlotProps extends ScatterProps {
  readonly range: Range;
  readonly whole: Range;
  /** null: all points. */
  readonly zoom: (range: Range | null) => void;
}

const CARD_WIDTH = 320;
const LEAST_DRAG = 6;

function Plot(props: PlotProps) {
  const { points, kinds, roofs, x, y, range, height, pointed, zoom } = props;
  const host = useRef<HTMLDivElement>(null);
  const below = useRef<HTMLCanvasElement>(null);
  const above = useRef<HTMLCanvasElement>(null);
  const width = useWidth(host);
  const [colors, setColors] = useState(() => scatterColors(kinds));
  useEffect(() => {
    setColors(scatterColors(kinds));
    return watchColors(() => setColors(scatterColors(kinds)));
  }, [kinds]);
  const picture: ScatterPicture = { points, kinds, roofs, x, y, range, width, height };
  const radii = useMemo(() => markRadii(points), [points]);
  const order = useMemo(
    () => Array.from(points.weight.keys()).sort((a, b) => points.weight[b] - points.weight[a]),
    [points],
  );
  useLayoutEffect(() => {
    const pen = below.current && width > 0 ? canvasPen(below.current, width, height) : null;
    if (pen) drawScatter(pen, picture, colors);
  }, [points, kinds, roofs, range, width, height, colors]);
  const drag = useRef<{ x: number; y: number } | null>(null);
  const [box, setBox] = useState<readonly [number, number, number, number] | null>(null);
  const [point, setPoint] = useState<number | null>(null);
  const [isNear, setNear] = useState(false);
  const now = useRef({ picture, colors, radii });
  now.current = { picture, colors, radii };
  const mark = () => {
    const latest = now.current;
    const chosen = pointed.value;
    const known = chosen !== null && chosen < latest.picture.points.x.length ? chosen : null;
    setPoint(known);
    const size = latest.picture;
    const pen =
      above.current && size.width > 0 ? canvasPen(above.current, size.width, size.height) : null;
    if (pen && known !== null)
      drawPointed(pen, latest.picture, latest.colors, known, latest.radii[known]);
  };
  useSignalEffect(mark);
  useLayoutEffect(mark, [points, range, width, height, colors]);

  const placeOf = (event: PointerEvent) => {
    const bounds = host.current!.getBoundingClientRect();
    return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
  };
  const onMove = (event: PointerEvent) => {
    const place = placeOf(event);
    const from = drag.current;
    const isDrag = from !== null && Math.hypot(place.x - from.x, place.y - from.y) >= LEAST_DRAG;
    if (from !== null && (isDrag || box)) setBox([from.x, from.y, place.x, place.y]);
    else pointed.value = nearestPoint(picture, radii, place.x, place.y);
  };
  const onUp = () => {
    drag.current = null;
    if (box) {
      zoom(boxRange(picture, box));
      setBox(null);
    } else if (pointed.peek() !== null) props.choose(pointed.peek()!);
  };
  const keys = scatterKeys({
    move: (by) => {
      const before = pointed.peek();
      const index = before === null ? (by > 0 ? -1 : order.length) : order.indexOf(before);
      pointed.value = order[Math.max(0, Math.min(index + by, order.length - 1))] ?? null;
    },
    choose: () => {
      const chosen = pointed.peek();
      if (chosen !== null) props.choose(chosen);
    },
    zoomBy: (factor) => zoom(zoomedBy(picture, props.whole, factor, pointed.peek())),
    reset: () => {
      if (pointed.peek() !== null) pointed.value = null;
      else zoom(null);
    },
  });
  // Registered for the help only, so any set of these bindings will do.
  useEffect(() => bindKeys(keys, true), []);
  const rank = point === null ? 0 : order.indexOf(point);
  return (
    <div class="scatter-plot" style={{ height: `${height}px` }}>
      <div
        class="scatter-host"
        ref={host}
        role="slider"
        tabIndex={0}
        aria-label={`${props.title}: point, the largest first`}
        aria-valuemin={0}
        aria-valuemax={Math.max(order.length - 1, 0)}
        aria-valuenow={rank}
        aria-valuetext={point === null ? "no point" : props.textOf(point)}
        aria-description="Enter opens its row in the table"
        onPointerMove={onMove}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          drag.current = placeOf(event);
          host.current?.setPointerCapture(event.pointerId);
        }}
        onPointerUp={onUp}
        onPointerCancel={() => {
          drag.current = null;
          setBox(null);
        }}
        onPointerEnter={() => setNear(true)}
        onPointerLeave={() => {
          setNear(false);
          pointed.value = null;
        }}
        onFocus={() => setNear(true)}
        onBlur={() => {
          setNear(false);
          pointed.value = null;
        }}
        onDblClick={() => zoom(null)}
        onKeyDown={(event) => void runKey(keys, event)}
      >
        <canvas ref={below} />
        <canvas ref={above} />
      </div>
      {box ? <div class="scatter-box" style={boxStyle(box)} /> : null}
      {isNear && point !== null && !box ? (
        <div
          class="step-card scatter-card"
          style={cardPlace(picture, radii, point)}
          aria-hidden="true"
        >
          {props.card(point)}
        </div>
      ) : null}
    </div>
  );
}

/** The point at a position, the smallest if there are several; null if none is near. */
export function nearestPoint(
  picture: ScatterPicture,
  radii: Float64Array,
  left: number,
  top: number,
): number | null {
  const at = places(picture);
  const { x, y } = picture.points;
  let best: number | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (let point = 0; point < x.length; point++) {
    const distance = Math.hypot(at.x(x[point]) - left, at.y(y[point]) - top);
    if (distance > radii[point] + 4) continue;
    // Small marks on top of a large one win.
    const rank = radii[point] + distance / 100;
    if (rank < least) [best, least] = [point, rank];
  }
  return best;
}

/** The range of a box given in pixels. */
function boxRange(
  picture: ScatterPicture,
  [fromX, fromY, toX, toY]: readonly [number, number, number, number],
): Range {
  const plot = plotBox(picture);
  const { x, y } = picture.range;
  const power = (share: number, [low, high]: readonly [number, number]) =>
    low + Math.max(0, Math.min(share, 1)) * (high - low);
  const across = [fromX, toX].map((left) => power((left - plot.left) / plot.width, x));
  const up = [fromY, toY].map((top) => power(1 - (top - plot.top) / plot.height, y));
  const ordered = (pair: number[]): [number, number] => {
    const [low, high] = [Math.min(...pair), Math.max(...pair)];
    return high - low > 0.02 ? [low, high] : [low - 0.01, high + 0.01];
  };
  return { x: ordered(across), y: ordered(up) };
}

/** The range scaled by `factor` about a point or its center; null if it would show all points. */
function zoomedBy(
  picture: ScatterPicture,
  whole: Range,
  factor: number,
  point: number | null,
): Range | null {
  const axis = (name: "x" | "y"): [number, number] => {
    const [low, high] = picture.range[name];
    const middle = point === null ? (low + high) / 2 : Math.log10(picture.points[name][point]);
    const half = ((high - low) * factor) / 2;
    return [middle - half, middle + half];
  };
  const range = { x: axis("x"), y: axis("y") };
  const isAll = range.x[1] - range.x[0] >= whole.x[1] - whole.x[0];
  return isAll ? null : range;
}

function boxStyle([fromX, fromY, toX, toY]: readonly [number, number, number, number]) {
  return {
    left: `${Math.min(fromX, toX)}px`,
    top: `${Math.min(fromY, toY)}px`,
    width: `${Math.abs(toX - fromX)}px`,
    height: `${Math.abs(toY - fromY)}px`,
  };
}

/** Beside the mark, on the side with more room. */
function cardPlace(picture: ScatterPicture, radii: Float64Array, point: number) {
  const at = places(picture);
  const gap = radii[point] + 10;
  const x = at.x(picture.points.x[point]);
  const y = at.y(picture.points.y[point]);
  const right = x + gap;
  const left = right + CARD_WIDTH <= picture.width ? right : x - gap - CARD_WIDTH;
  const isLow = y > picture.height / 2;
  return {
    left: `${Math.max(left, 0)}px`,
    width: `${CARD_WIDTH}px`,
    ...(isLow ? { bottom: `${picture.height - y}px` } : { top: `${Math.max(y, 0)}px` }),
  };
}
