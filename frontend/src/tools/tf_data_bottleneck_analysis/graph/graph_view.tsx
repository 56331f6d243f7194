/** The graph of one execution, which can be panned and zoomed, and whose iterators can be chosen. */
import { useMemo } from "preact/hooks";
import { columnScale, formatCount, formatRatio, formatTime, plural } from "../../../base/format";
import { runKey } from "../../../base/keys";
import { microseconds, ratio } from "../../../base/units";
import { GraphFrame, useFrame } from "../../../widgets/graph/graph_frame";
import { Arrow, GraphNodes, Shapes, type Walk } from "../../../widgets/graph/graph_nodes";
import type { Select } from "../../tool";
import type { IteratorNode } from "../payload";
import type { GraphLayout } from "./graph_layout";
import { type GraphTree, heldShare, type ShownNodes, type Stub } from "./graph_tree";
import { EDGES, LEAST_START, nodeShapes, stubShapes } from "./node_shapes";

interface GraphViewProps {
  readonly tree: GraphTree;
  readonly shown: ShownNodes;
  readonly layout: GraphLayout;
  /** The height of the frame in CSS pixels. */
  readonly height: number;
  /** Index of the node whose details are open; -1 for none. */
  readonly chosen: number;
  readonly label: string;
  /** The viewport in the address. */
  readonly lookText: string | undefined;
  readonly select: Select;
  /** null: no node. */
  readonly choose: (node: number | null) => void;
  readonly openStub: (stub: Stub) => void;
}

const SECTION = "Input pipeline graph";

export function GraphView(props: GraphViewProps) {
  const { tree, shown, layout, chosen, label, lookText, select, height, choose, openStub } = props;
  const focus = chosen >= 0 ? chosen : tree.bottleneck;
  // Panning must not render hundreds of nodes again.
  const content = useMemo(
    () => (
      <>
        <Edges layout={layout} />
        <Iterators {...{ tree, shown, layout, chosen, focus, choose }} />
        <Stubs shown={shown} layout={layout} tree={tree} openStub={openStub} />
      </>
    ),
    [tree, shown, layout, chosen, focus, choose, openStub],
  );
  return (
    <GraphFrame {...{ layout, height, focus, chosen, label, lookText, select }} section={SECTION}>
      {content}
    </GraphFrame>
  );
}

/** Edges below nodes. */
function Edges({ layout }: Pick<GraphViewProps, "layout">) {
  return (
    <>
      <defs>
        <Arrow id="tf-arrow-critical" color="var(--text)" />
        <Arrow id="tf-arrow" color="var(--control-border)" />
      </defs>
      {layout.edges.map(({ path, isCritical, isOfMany }, index) => (
        <path
          key={index}
          d={path}
          fill="none"
          class={isCritical ? "edge critical" : "edge"}
          marker-end={`url(#${isCritical ? "tf-arrow-critical" : "tf-arrow"})`}
          {...EDGES[isCritical ? "critical" : "other"]}
          {...(isOfMany ? EDGES.ofMany : {})}
        />
      ))}
    </>
  );
}

interface IteratorsProps
  extends Pick<GraphViewProps, "tree" | "shown" | "layout" | "chosen" | "choose"> {
  readonly focus: number;
}

function Iterators({ tree, shown, layout, chosen, focus, choose }: IteratorsProps) {
  const startScale = useMemo(
    () =>
      columnScale(
        "time",
        tree.nodes.reduce((most, { start }) => Math.max(most, start || 0), LEAST_START),
      ),
    [tree],
  );
  const walks: readonly Walk[] = [
    {
      key: "ArrowLeft",
      label: "Iterator that it calls",
      to: (node) => tree.children[node].find((child) => shown.nodes.includes(child)),
    },
    {
      key: "ArrowRight",
      label: "Iterator that calls it",
      to: (node) => (tree.nodes[node].parent < 0 ? undefined : tree.nodes[node].parent),
    },
    { key: "ArrowUp", label: "Iterator above", to: (node) => neighbor(layout, node, -1) },
    { key: "ArrowDown", label: "Iterator below", to: (node) => neighbor(layout, node, 1) },
  ];
  return (
    <GraphNodes
      boxes={layout.nodes}
      chosen={chosen}
      focus={focus}
      section="Iterator in the graph"
      graphSection={SECTION}
      walks={walks}
      shapes={(node) => nodeShapes(tree, tree.nodes[node], startScale)}
      kind={(node) => tree.nodes[node].kind}
      title={(node) => {
        const iterator = tree.nodes[node];
        return `${describe(tree, iterator)}\n${iterator.longName.slice(0, 2000)}${parameterText(iterator)}`;
      }}
      choose={choose}
    />
  );
}

function Stubs({
  tree,
  shown,
  layout,
  openStub,
}: Pick<GraphViewProps, "tree" | "shown" | "layout" | "openStub">) {
  const frame = useFrame();
  return (
    <>
      {layout.stubs.map((box) => {
        const stub = shown.stubs[box.stub];
        const open = () => openStub(stub);
        return (
          <g
            key={`stub ${stub.parent}`}
            class="graph-node tf-stub"
            role="button"
            tabindex={0}
            transform={`translate(${box.x} ${box.y})`}
            onClick={open}
            onFocus={() => frame.show(box)}
            onKeyDown={(event) =>
              void runKey(
                [{ keys: ["Enter", " "], label: "Show more", section: "", run: open }],
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
    </>
  );
}

const KIND_TEXTS: Readonly<Record<IteratorNode["kind"], string>> = {
  bottleneck: "the bottleneck",
  critical: "on the critical path",
  other: "not on the critical path",
};

function describe(tree: GraphTree, node: IteratorNode): string {
  const share = heldShare(tree, node);
  return [
    node.type.slice(0, 100),
    KIND_TEXTS[node.kind],
    `self time ${formatTime(node.self)}`,
    Number.isNaN(share) ? "" : `${formatRatio(ratio(share))} of what holds up the execution`,
    `total ${formatTime(microseconds(node.total))}`,
    plural(node.calls, "call"),
  ]
    .filter(Boolean)
    .join(", ");
}

function parameterText({ parameters }: IteratorNode): string {
  return parameters
    .slice(0, 20)
    .map(({ name, value }) => `\n${name}: ${value.slice(0, 200)}`)
    .join("");
}

/** The nearest node in the same column, up or down. */
function neighbor({ nodes }: GraphLayout, node: number, sign: 1 | -1): number | undefined {
  const from = nodes.find((box) => box.node === node);
  if (!from) return undefined;
  const beside = nodes.filter(
    (box) => Math.abs(box.x - from.x) < from.width / 2 && sign * (box.y - from.y) > 0,
  );
  return beside.sort((a, b) => sign * (a.y - b.y))[0]?.node;
}
