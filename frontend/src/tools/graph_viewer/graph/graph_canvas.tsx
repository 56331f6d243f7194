/** The graph, which can be panned and zoomed, and whose instructions can be chosen. */
import { useMemo } from "preact/hooks";
import type { Microseconds } from "../../../base/units";
import { GraphFrame } from "../../../widgets/graph/graph_frame";
import { Arrow, GraphNodes, type Walk } from "../../../widgets/graph/graph_nodes";
import type { Select } from "../../tool";
import type { ProgramGraph } from "../payload";
import { describe } from "./describe";
import { type ColorMode, nodeShapes } from "./node_shapes";
import type { ProgramLayout } from "./program_layout";

interface GraphCanvasProps {
  readonly graph: ProgramGraph;
  readonly layout: ProgramLayout;
  readonly height: number;
  readonly mode: ColorMode;
  readonly most: Microseconds;
  /** -1: none. */
  readonly chosen: number;
  readonly label: string;
  readonly lookText: string | undefined;
  readonly select: Select;
  readonly choose: (node: number | null) => void;
  readonly center: (node: number) => void;
  readonly open: (node: number) => void;
  /** Opens an instruction, or closes it. */
  readonly turn: (name: string) => void;
}

const SECTION = "Program graph";

export function GraphCanvas(props: GraphCanvasProps) {
  const { graph, layout, mode, most, chosen, choose, center, open, turn } = props;
  const content = useMemo(
    () => (
      <>
        <Frames graph={graph} layout={layout} turn={turn} />
        <Edges layout={layout} />
        <InstructionNodes {...{ graph, layout, mode, most, chosen, choose, center, open }} />
      </>
    ),
    [graph, layout, mode, most, chosen, choose, center, open, turn],
  );
  return (
    <GraphFrame
      layout={layout}
      height={props.height}
      focus={graph.center}
      chosen={chosen}
      label={props.label}
      section={SECTION}
      lookText={props.lookText}
      select={props.select}
    >
      {content}
    </GraphFrame>
  );
}

/** Around what is open. */
function Frames({ graph, layout, turn }: Pick<GraphCanvasProps, "graph" | "layout" | "turn">) {
  return (
    <>
      {layout.clusters.map(({ cluster, x, y, width, height }) => {
        const { computation, owner, leftOut } = graph.clusters[cluster];
        const name = owner?.name ?? computation;
        return (
          <g key={cluster} class="graph-cluster" transform={`translate(${x} ${y})`}>
            <rect width={width} height={height} rx="6" />
            <text x="10" y="18" font-size="11.5">
              {`${name.slice(0, 60)}: ${computation.slice(0, 60)}${leftOut > 0 ? ` (+${leftOut} more)` : ""}`}
            </text>
            {/* biome-ignore lint/a11y/noStaticElementInteractions: the same */}
            <text
              class="graph-close"
              x={width - 10}
              y="18"
              text-anchor="end"
              font-size="13"
              onClick={() => turn(name)}
            >
              ⊟<title>{`Collapse ${name.slice(0, 100)}`}</title>
            </text>
          </g>
        );
      })}
    </>
  );
}

function Edges({ layout }: Pick<GraphCanvasProps, "layout">) {
  return (
    <>
      <defs>
        <Arrow id="graph-arrow" color="var(--muted)" />
      </defs>
      {layout.edges.map(({ path, edge }, index) => (
        <path
          key={index}
          d={path}
          class="edge"
          fill="none"
          stroke="var(--muted)"
          stroke-width="1"
          stroke-dasharray={edge.operand < 0 ? "4 3" : undefined}
          marker-end="url(#graph-arrow)"
        >
          <title>{edgeTitle(edge.operand, edge.element)}</title>
        </path>
      ))}
    </>
  );
}

function edgeTitle(operand: number, element: number): string {
  if (operand < 0) return "must run before";
  return `operand ${operand}${element < 0 ? "" : `: element ${element} of the tuple`}`;
}

type InstructionNodesProps = Pick<
  GraphCanvasProps,
  "graph" | "layout" | "mode" | "most" | "chosen" | "choose" | "center" | "open"
>;

function InstructionNodes(props: InstructionNodesProps) {
  const { graph, layout, mode, most, chosen, choose, center, open } = props;
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const beside = (node: number, sign: 1 | -1) => {
    const from = layout.nodes.find((box) => box.node === node);
    return layout.nodes
      .filter((box) => from && Math.abs(box.y - from.y) < from.height / 2)
      .filter((box) => from && sign * (box.x - from.x) > 0)
      .sort((a, b) => sign * (a.x - b.x))[0]?.node;
  };
  const walks: readonly Walk[] = [
    {
      key: "ArrowUp",
      label: "First operand",
      to: (node) => graph.edges.find(({ to }) => to === node)?.from,
    },
    {
      key: "ArrowDown",
      label: "First user",
      to: (node) => graph.edges.find(({ from }) => from === node)?.to,
    },
    { key: "ArrowLeft", label: "Instruction to the left", to: (node) => beside(node, -1) },
    { key: "ArrowRight", label: "Instruction to the right", to: (node) => beside(node, 1) },
  ];
  const section = "Instruction in the graph";
  const more = (node: number) => [
    { keys: ["c"], label: "Center the graph on it", section, run: () => center(node) },
    {
      keys: ["o"],
      label: "Expand or collapse a fusion or call",
      section,
      run: () => {
        if (byId.get(node)?.canOpen) open(node);
      },
    },
  ];
  return (
    <GraphNodes
      boxes={layout.nodes}
      chosen={chosen}
      focus={chosen >= 0 ? chosen : graph.center}
      section={section}
      graphSection={SECTION}
      walks={walks}
      more={more}
      shapes={(node) => nodeShapes(byId.get(node)!, mode, most, node === graph.center)}
      kind={(node) => byId.get(node)!.group}
      title={(node) => describe(byId.get(node)!)}
      choose={choose}
      openTwice={center}
      act={(node, target) => {
        if (!target.classList.contains("graph-open")) return false;
        open(node);
        return true;
      }}
    />
  );
}
