/** An icicle chart of a tree of times: each node is as wide as its time, below its parent. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { watchColors } from "../../base/theme";
import { getComputedColor } from "../canvas/computed_color";
import { type EventColors, makeColors } from "../canvas/event_colors";
import { useHeight, useWidth } from "../chart/use_size";
import { PointerCard } from "../overlays/pointer_card";
import "./icicle.css";
import { icicleStep } from "./icicle_keys";
import { layOutIcicle, nodeAt } from "./icicle_layout";
import { IciclePainter, type IcicleStyle } from "./icicle_painter";
import type { WeightedTree } from "./weighted_tree";

/** What is shown of an icicle, and what its keys and clicks do. */
export interface IcicleState {
  /** The node that takes the whole width. */
  readonly focus: number;
  /** -1 for none. */
  readonly selected: number;
  readonly select: (node: number) => void;
  readonly zoom: (node: number) => void;
}

interface IcicleProps extends IcicleState {
  readonly label: string;
  readonly tree: WeightedTree;
  readonly style: IcicleStyle;
  /** The description of a node for screen readers. */
  readonly describe: (node: number) => string;
  /** The content of the card beside the pointer. */
  readonly card: (node: number) => ComponentChildren;
}

interface Pointed {
  readonly node: number;
  readonly x: number;
  readonly y: number;
}

export function Icicle(props: IcicleProps) {
  const { tree, style, focus, selected, select, zoom } = props;
  const { rowHeight } = style;
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const status = useId();
  const layout = useMemo(() => layOutIcicle(tree, focus), [tree, focus]);
  const width = useWidth(scroller);
  const whole = (tree.deepest + 1) * rowHeight;
  const height = Math.min(useHeight(scroller), whole);
  const painter = useRef<IciclePainter | null>(null);
  const colors = useRef<EventColors | null>(null);

  const invalidate = useFrame(() => {
    if (!canvas.current || !scroller.current || width === 0) return;
    painter.current ??= new IciclePainter(canvas.current);
    colors.current ??= makeColors((name) => getComputedColor(canvas.current!, name));
    painter.current.draw({
      tree,
      layout,
      style,
      colors: colors.current,
      width,
      height,
      top: scroller.current.scrollTop,
      dpr: devicePixelRatio,
      selected,
      hovered: pointed?.node ?? -1,
    });
  });
  useEffect(
    () =>
      watchColors(() => {
        colors.current = null;
        invalidate();
      }),
    [],
  );
  useEffect(() => setPointed(null), [tree, focus]);
  useEffect(() => {
    const element = scroller.current;
    if (!element || selected < 0) return;
    const top = tree.depth[selected] * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight;
  }, [tree, selected]);

  const nodeUnder = (event: MouseEvent) => {
    const element = scroller.current;
    if (!element || width === 0) return -1;
    const box = element.getBoundingClientRect();
    const depth = Math.floor((event.clientY - box.top + element.scrollTop) / rowHeight);
    return nodeAt(layout, depth, (event.clientX - box.left) / width);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = Math.max(selected, 0);
    const next = icicleStep(tree, layout, at, event.key);
    if (next !== null) select(next);
    else if (event.key === "Enter" || event.key === " ") zoom(at);
    else if (event.key === "Escape" && focus !== 0) zoom(0);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class="inner-focus icicle"
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move in it
      tabIndex={0}
      role="application"
      aria-label={props.label}
      aria-describedby={status}
      onScroll={() => {
        setPointed(null);
        invalidate();
      }}
      onKeyDown={onKeyDown}
      onPointerMove={(event) => {
        const node = nodeUnder(event);
        setPointed(node < 0 ? null : { node, x: event.clientX, y: event.clientY });
      }}
      onPointerLeave={() => setPointed(null)}
      onClick={(event) => {
        const node = nodeUnder(event);
        if (node >= 0 && event.detail < 2) select(node);
      }}
      onDblClick={(event) => {
        const node = nodeUnder(event);
        if (node >= 0) zoom(node);
      }}
    >
      <canvas class="icicle-canvas" ref={canvas} style={{ height: `${height}px` }} />
      <div style={{ height: `${whole - height}px` }} />
      <p class="unseen" id={status} role="status">
        {selected < 0 ? "" : props.describe(selected)}
      </p>
      {pointed ? (
        <PointerCard x={pointed.x} y={pointed.y}>
          {props.card(pointed.node)}
        </PointerCard>
      ) : null}
    </div>
  );
}

/** Calls the latest `draw` in the next frame after each render, and after each call of the result. */
function useFrame(draw: () => void): () => void {
  const latest = useRef(draw);
  latest.current = draw;
  const request = useRef(0);
  const invalidate = () => {
    if (request.current === 0)
      request.current = requestAnimationFrame(() => {
        request.current = 0;
        latest.current();
      });
  };
  useLayoutEffect(invalidate);
  useEffect(() => () => cancelAnimationFrame(request.current), []);
  return invalidate;
}
