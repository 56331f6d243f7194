/** The graph of one execution: moved, zoomed, and its iterators chosen, by mouse and by keyboard. */
import { h } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { columnScale, formatCount, formatRatio, formatTime } from "../../../base/format";
import { type Binding, bindKeys, runKey } from "../../../base/keys";
import { microseconds, ratio } from "../../../base/units";
import type { Select } from "../../tool";
import type { GraphNode } from "../payload";
import { graphKeys, nodeKeys, ZOOM, zoomKeys } from "./graph_keys";
import type { GraphBox, GraphLayout } from "./graph_layout";
import { type GraphTree, heldShare, type Shown, type Stub } from "./graph_tree";
import { chosenShape, EDGES, LEAST_START, nodeShapes, type Shape, stubShapes } from "./node_shapes";
import { useDrag } from "./use_drag";
import { type LookState, useLook } from "./use_look";
import { boxesIn, fitGraph, pan, reveal, zoomViewport } from "./viewport";

interface GraphViewProps {
  readonly tree: GraphTree;
  readonly shown: Shown;
  readonly layout: GraphLayout;
  /** CSS pixels of the frame. */
  readonly height: number;
  /** Place of the node whose details are open, -1 for none. */
  readonly chosen: number;
  readonly label: string;
  /** As in the address. */
  readonly lookText: string | undefined;
  readonly select: Select;
  /** null: no node. */
  readonly choose: (node: number | null) => void;
  readonly openStub: (stub: Stub) => void;
}

const WHEEL = 0.002;
const PIXELS = [1, 16, 400];

export function GraphView(props: GraphViewProps) {
  const { tree, layout, chosen, label, lookText, select } = props;
  const element = useRef<HTMLDivElement>(null);
  const focus = chosen >= 0 ? chosen : tree.bottleneck;
  const state = useLook(element, layout, props.height, focus, lookText, select);
  const { look, frame, change } = state;
  const zoom = (by: number) =>
    change((from) => zoomViewport(from, by, frame.width / 2, frame.height / 2));
  const showAll = () => change(() => fitGraph(layout, frame));
  const move = (right: number, down: number) =>
    change((from) => pan(from, right, down, layout, frame));
  const keys = graphKeys({ pan: move, zoom, showAll });
  // For the help, any one set will do.
  useEffect(() => bindKeys(keys, true), []);
  const drag = useDrag(move);
  useWheel(element, state, layout);
  const chosenBox = layout.nodes.find(({ node }) => node === chosen);
  useLayoutEffect(() => {
    if (chosenBox && frame.width > 0)
      change((from) => changed(from, reveal(from, chosenBox, frame)));
  }, [chosen, frame.width > 0, frame.width]);
  const hidden = frame.width === 0 ? 0 : layout.nodes.length - boxesIn(layout, look, frame);
  return (
    <div class="tf-graph-place" style={{ "min-height": `${props.height}px` }}>
      <div
        ref={element}
        class="tf-graph-frame"
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move what is in view
        tabIndex={0}
        aria-label={label}
        title="Drag to move; Ctrl and the wheel to zoom; by keyboard arrows, + and −"
        {...drag}
        onKeyDown={(event) => {
          if (event.target === element.current) runKey(keys, event);
        }}
      >
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: the group around it has the name */}
        <svg width={frame.width} height={frame.height}>
          <g
            transform={`scale(${look.scale}) translate(${-look.x} ${-look.y})`}
            class="tf-graph-content"
          >
            <Content {...props} state={state} focus={focus} zoom={zoom} showAll={showAll} />
          </g>
        </svg>
      </div>
      <div class="tf-graph-tools">
        <span class="muted tf-graph-hidden" role="status">
          {hidden > 0 ? `${formatCount(hidden)} out of view` : ""}
        </span>
        <ToolButton sign="−" title="Zoom out (−)" run={() => zoom(1 / ZOOM)} />
        <ToolButton sign="+" title="Zoom in (+)" run={() => zoom(ZOOM)} />
        <ToolButton sign="Fit" title="Fit the graph (0)" run={showAll} />
      </div>
    </div>
  );
}

function ToolButton({ sign, title, run }: { sign: string; title: string; run: () => void }) {
  return (
    <button type="button" class="button small" title={title} aria-label={title} onClick={run}>
      {sign}
    </button>
  );
}

interface ContentProps extends GraphViewProps {
  readonly state: LookState;
  readonly focus: number;
  readonly zoom: (by: number) => void;
  readonly showAll: () => void;
}

/** Edges below nodes; one of the nodes is in the order of Tab, arrows lead from there. */
function Content(props: ContentProps) {
  const { tree, shown, layout, chosen, state, openStub } = props;
  const choose = (node: number | null) => {
    // Details take room from the frame.
    state.hold();
    props.choose(node);
  };
  const group = useRef<SVGGElement>(null);
  const startScale = useMemo(
    () =>
      columnScale(
        "time",
        tree.nodes.reduce((most, { start }) => Math.max(most, start || 0), LEAST_START),
      ),
    [tree],
  );
  const [tabbed, setTabbed] = useState(props.focus);
  useEffect(() => setTabbed(props.focus), [tree, props.focus]);
  const current = layout.nodes.some(({ node }) => node === tabbed)
    ? tabbed
    : (layout.nodes.at(-1)?.node ?? -1);
  const show = (box: GraphBox) =>
    state.change((from) => changed(from, reveal(from, box, state.frame)));
  const goTo = (node: number | undefined) => {
    if (node === undefined) return;
    setTabbed(node);
    group.current
      ?.querySelector<SVGGElement>(`[data-node="${node}"]`)
      ?.focus({ preventScroll: true });
  };
  const keysOf = (node: number): Binding[] => [
    ...nodeKeys({
      upstream: () => goTo(tree.children[node].find((child) => shown.nodes.includes(child))),
      downstream: () => goTo(tree.nodes[node].parent < 0 ? undefined : tree.nodes[node].parent),
      above: () => goTo(neighbour(layout, node, -1)),
      below: () => goTo(neighbour(layout, node, 1)),
      choose: () => choose(chosen === node ? null : node),
      leave: () => choose(null),
    }),
    ...zoomKeys({ zoom: props.zoom, showAll: props.showAll }),
  ];
  // For the help, any one set will do.
  useEffect(() => bindKeys(nodeKeys(NOTHING), true), []);
  // Moving the graph must not make hundreds of nodes anew.
  const edges = useMemo(
    () =>
      layout.edges.map(({ path, isCritical, isOfMany }, at) => (
        <path
          key={at}
          d={path}
          fill="none"
          class={isCritical ? "edge critical" : "edge"}
          marker-end={`url(#${isCritical ? "tf-arrow-critical" : "tf-arrow"})`}
          {...EDGES[isCritical ? "critical" : "other"]}
          {...(isOfMany ? EDGES.ofMany : {})}
        />
      )),
    [layout],
  );
  const drawings = useMemo(
    () =>
      new Map(
        layout.nodes.map(({ node }) => [
          node,
          <Shapes key={node} shapes={nodeShapes(tree, tree.nodes[node], startScale)} />,
        ]),
      ),
    [layout, tree],
  );
  return (
    <g ref={group}>
      <defs>
        <Arrow id="tf-arrow-critical" color="var(--text)" />
        <Arrow id="tf-arrow" color="var(--control-border)" />
      </defs>
      {edges}
      {layout.nodes.map((box) => {
        const { node, x, y } = box;
        const one = tree.nodes[node];
        return (
          <g
            key={node}
            data-node={node}
            data-kind={one.kind}
            class="tf-node"
            role="button"
            tabindex={node === current ? 0 : -1}
            aria-pressed={node === chosen}
            transform={`translate(${x} ${y})`}
            onClick={() => choose(chosen === node ? null : node)}
            onFocus={() => {
              setTabbed(node);
              show(box);
            }}
            onKeyDown={(event) => void runKey(keysOf(node), event)}
          >
            <title>{`${describe(tree, one)}\n${one.longName.slice(0, 2000)}${parameterText(one)}`}</title>
            {drawings.get(node)}
            {node === chosen ? <Shapes shapes={[chosenShape(box)]} /> : null}
          </g>
        );
      })}
      {layout.stubs.map((box) => {
        const stub = shown.stubs[box.stub];
        const open = () => openStub(stub);
        return (
          <g
            key={`stub ${stub.parent}`}
            class="tf-node tf-stub"
            role="button"
            tabindex={0}
            transform={`translate(${box.x} ${box.y})`}
            onClick={open}
            onFocus={() => show(box)}
            onKeyDown={(event) =>
              void runKey(
                [{ keys: ["Enter", " "], label: "More of them", section: "", run: open }],
                event,
              )
            }
          >
            <title>
              {`Show more of ${formatCount(stub.count)} iterators below ${tree.nodes[stub.parent].type.slice(0, 60)}`}
            </title>
            <Shapes shapes={stubShapes(stub)} />
          </g>
        );
      })}
    </g>
  );
}

const NOTHING = {
  upstream: () => {},
  downstream: () => {},
  above: () => {},
  below: () => {},
  choose: () => {},
  leave: () => {},
};

function Shapes({ shapes }: { shapes: readonly Shape[] }) {
  return (
    <>{shapes.map(({ kind, attributes, text }, at) => h(kind, { key: at, ...attributes }, text))}</>
  );
}

function Arrow({ id, color }: { id: string; color: string }) {
  return (
    <marker
      id={id}
      viewBox="0 0 8 8"
      refX="7"
      refY="4"
      markerWidth="8"
      markerHeight="8"
      markerUnits="userSpaceOnUse"
      orient="auto"
    >
      <path d="M 0 0 L 8 4 L 0 8 z" fill={color} />
    </marker>
  );
}

const KIND_TEXTS: Readonly<Record<GraphNode["kind"], string>> = {
  bottleneck: "the bottleneck",
  critical: "on the critical path",
  other: "not on the critical path",
};

function describe(tree: GraphTree, node: GraphNode): string {
  const share = heldShare(tree, node);
  return [
    node.type.slice(0, 100),
    KIND_TEXTS[node.kind],
    `self time ${formatTime(node.self)}`,
    Number.isNaN(share) ? "" : `${formatRatio(ratio(share))} of what holds up the execution`,
    `total ${formatTime(microseconds(node.total))}`,
    `${formatCount(node.calls)} calls`,
  ]
    .filter(Boolean)
    .join(", ");
}

function parameterText({ parameters }: GraphNode): string {
  return parameters
    .slice(0, 20)
    .map(({ name, value }) => `\n${name}: ${value.slice(0, 200)}`)
    .join("");
}

/** The nearest one in the same column, up or down. */
function neighbour({ nodes }: GraphLayout, node: number, sign: 1 | -1): number | undefined {
  const from = nodes.find((box) => box.node === node);
  if (!from) return undefined;
  const beside = nodes.filter(
    (box) => Math.abs(box.x - from.x) < from.width / 2 && sign * (box.y - from.y) > 0,
  );
  return beside.sort((a, b) => sign * (a.y - b.y))[0]?.node;
}

/** The same object where nothing moved, so that the address stays as it is. */
function changed<T extends { x: number; y: number }>(before: T, after: T): T {
  return before.x === after.x && before.y === after.y ? before : after;
}

/** With Ctrl it zooms where the pointer is; sideways it moves; else the page scrolls. */
function useWheel(
  element: { readonly current: HTMLElement | null },
  state: LookState,
  layout: GraphLayout,
): void {
  const latest = useRef({ state, layout });
  latest.current = { state, layout };
  useEffect(() => {
    const frame = element.current;
    if (!frame) return;
    const turn = (event: WheelEvent) => {
      const now = latest.current;
      const unit = PIXELS[event.deltaMode] ?? 1;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const box = frame.getBoundingClientRect();
        const by = Math.exp(-Math.max(-200, Math.min(event.deltaY * unit, 200)) * WHEEL);
        now.state.change((from) =>
          zoomViewport(from, by, event.clientX - box.left, event.clientY - box.top),
        );
        return;
      }
      const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
      if (Math.abs(sideways) <= Math.abs(event.shiftKey ? 0 : event.deltaY)) return;
      event.preventDefault();
      now.state.change((from) => pan(from, sideways * unit, 0, now.layout, now.state.frame));
    };
    frame.addEventListener("wheel", turn, { passive: false });
    return () => frame.removeEventListener("wheel", turn);
  }, []);
}
