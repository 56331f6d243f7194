/** Where the time goes as a picture: programs, what is in them, each as wide as its time. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { cut } from "../../base/names";
import { watchColors } from "../../base/theme";
import { useWidth } from "../../widgets/chart/use_size";
import { icicleStep } from "../../widgets/icicle/icicle_keys";
import { layOutIcicle, nodeAt } from "../../widgets/icicle/icicle_layout";
import { getComputedColor } from "../trace_viewer/canvas/computed_color";
import { type EventColors, makeColors } from "../trace_viewer/model/event_colors";
import { ICICLE_ROW, IciclePainter } from "./draw_icicle";
import { nodeFacts } from "./tree/node_facts";
import type { OpTree } from "./tree/op_tree";

interface IcicleProps {
  readonly tree: OpTree;
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

const MOST_LETTERS = 300;
const BESIDE = 14;

export function Icicle({ tree, focus, selected, select, zoom }: IcicleProps) {
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<IciclePainter | null>(null);
  const colors = useRef<EventColors | null>(null);
  const request = useRef(0);
  const width = useWidth(place);
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const layout = useMemo(() => layOutIcicle(tree, focus), [tree, focus]);
  const height = (tree.deepest + 1) * ICICLE_ROW;

  // The latest is drawn, however often what it shows changes before the next frame.
  const draw = useRef(() => {});
  draw.current = () => {
    if (!canvas.current || width === 0) return;
    painter.current ??= new IciclePainter(canvas.current);
    colors.current ??= makeColors((name) => getComputedColor(canvas.current!, name));
    painter.current.draw({
      tree,
      layout,
      colors: colors.current,
      width,
      height,
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

  const nodeUnder = (event: MouseEvent) => {
    if (!place.current || width === 0) return -1;
    const box = place.current.getBoundingClientRect();
    const depth = Math.floor((event.clientY - box.top + place.current.scrollTop) / ICICLE_ROW);
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
      class="program-icicle"
      ref={place}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move in it
      tabIndex={0}
      role="application"
      aria-label="Time of ops, as wide as they are long"
      aria-describedby="program-icicle-node"
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
      <canvas ref={canvas} style={{ width: "100%", height: `${height}px` }} />
      <p class="unseen" id="program-icicle-node" role="status">
        {selected < 0 ? "" : cut(nodeFacts(tree, selected), MOST_LETTERS)}
      </p>
      {pointed ? <IcicleCard {...pointed} text={nodeFacts(tree, pointed.node)} /> : null}
    </div>
  );
}

function IcicleCard({ text, x, y }: { text: string; x: number; y: number }) {
  const card = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = card.current;
    if (!element) return;
    const { offsetWidth: width, offsetHeight: height } = element;
    const left = x + BESIDE + width > innerWidth ? x - BESIDE - width : x + BESIDE;
    const top = y + BESIDE + height > innerHeight ? y - BESIDE - height : y + BESIDE;
    element.style.transform = `translate(${Math.max(left, 4)}px, ${Math.max(top, 4)}px)`;
  });
  return (
    <div class="program-hover" ref={card} aria-hidden="true">
      {cut(text, MOST_LETTERS)}
    </div>
  );
}
