/** The flame graph: nodes as wide as their time, each below the one that it is part of. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { watchColors } from "../../../base/theme";
import { getComputedColor } from "../../../widgets/canvas/computed_color";
import { type EventColors, makeColors } from "../../../widgets/canvas/event_colors";
import { useHeight, useWidth } from "../../../widgets/chart/use_size";
import { icicleStep } from "../../../widgets/icicle/icicle_keys";
import { layOutIcicle, nodeAt } from "../../../widgets/icicle/icicle_layout";
import { callFacts } from "../call_tree/call_facts";
import type { CallTree } from "../call_tree/call_tree";
import type { CallSearch } from "../call_tree/search_calls";
import { ROW_HEIGHT } from "../model/lane_layout";
import type { ColorBy } from "../model/types";
import type { Category } from "../protocol/payload";
import { CallCard } from "./call_card";
import { FlamePainter } from "./draw_flame";

interface FlameGraphProps {
  readonly tree: CallTree;
  readonly search: CallSearch | null;
  readonly colorBy: ColorBy;
  readonly categories: readonly Category[];
  /** The node that takes the whole width. */
  readonly focus: number;
  /** -1 for none. */
  readonly selected: number;
  readonly select: (node: number) => void;
  readonly zoom: (node: number) => void;
}

interface Pointed {
  readonly node: number;
  readonly x: number;
  readonly y: number;
}

export function FlameGraph(props: FlameGraphProps) {
  const { tree, search, focus, selected, select, zoom } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<FlamePainter | null>(null);
  const colors = useRef<EventColors | null>(null);
  const request = useRef(0);
  const width = useWidth(scroller);
  const height = useHeight(scroller);
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const layout = useMemo(() => layOutIcicle(tree, focus), [tree, focus]);

  // The latest is drawn, however often what it shows changes before the next frame.
  const draw = useRef(() => {});
  draw.current = () => {
    if (!canvas.current || !scroller.current || width === 0) return;
    painter.current ??= new FlamePainter(canvas.current);
    colors.current ??= makeColors((name) => getComputedColor(canvas.current!, name));
    painter.current.draw({
      tree,
      layout,
      search,
      colors: colors.current,
      colorBy: props.colorBy,
      categories: props.categories,
      width,
      height,
      top: scroller.current.scrollTop,
      dpr: devicePixelRatio,
      selected,
      hovered: pointed?.node ?? -1,
    });
  };
  const invalidate = () => {
    if (request.current === 0)
      request.current = requestAnimationFrame(() => {
        request.current = 0;
        draw.current();
      });
  };
  useLayoutEffect(invalidate);
  useEffect(
    () =>
      watchColors(() => {
        colors.current = null;
        invalidate();
      }),
    [],
  );
  useEffect(() => () => cancelAnimationFrame(request.current), []);
  useEffect(() => setPointed(null), [tree, focus]);
  useEffect(() => {
    const element = scroller.current;
    if (!element || selected < 0) return;
    const top = tree.depth[selected] * ROW_HEIGHT;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW_HEIGHT > element.scrollTop + element.clientHeight)
      element.scrollTop = top + ROW_HEIGHT - element.clientHeight;
  }, [tree, selected]);

  const nodeUnder = (event: MouseEvent) => {
    const element = scroller.current;
    if (!element || width === 0) return -1;
    const place = element.getBoundingClientRect();
    const depth = Math.floor((event.clientY - place.top + element.scrollTop) / ROW_HEIGHT);
    return nodeAt(layout, depth, (event.clientX - place.left) / width);
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
      class="trace-flame"
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move in it
      tabIndex={0}
      role="application"
      aria-label={`Flame graph, ${tree.order === "top_down" ? "top down" : "bottom up"}`}
      aria-describedby="trace-flame-node"
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
      <canvas class="trace-flame-canvas" ref={canvas} style={{ height: `${height}px` }} />
      <div style={{ height: `${Math.max((tree.deepest + 1) * ROW_HEIGHT - height, 0)}px` }} />
      <p class="unseen" id="trace-flame-node" role="status">
        {selected < 0 ? "" : callFacts(tree, selected)}
      </p>
      {pointed ? <CallCard tree={tree} {...pointed} /> : null}
    </div>
  );
}
