/** The graph around one instruction, and the details of the chosen one. */
import { useMemo, useRef } from "preact/hooks";
import { formatCount, plural } from "../../../base/format";
import { microseconds } from "../../../base/units";
import { ChartMenu } from "../../../widgets/chart/chart_menu";
import { LinkButton, SmallButton } from "../../../widgets/controls/buttons";
import { Card } from "../../../widgets/text/card";
import { TRACE } from "../../links/trace_links";
import type { PageProps } from "../../tool";
import type { ProgramGraph } from "../payload";
import { instructionEvents } from "../trace_events";
import { GraphCanvas } from "./graph_canvas";
import { InstructionDetails } from "./instruction_details";
import { InstructionTable, saveNodes } from "./instruction_table";
import { InstructionLegend } from "./legend";
import type { ColorMode } from "./node_shapes";
import { layProgram } from "./program_layout";

interface GraphCardProps extends PageProps<ProgramGraph> {
  readonly graph: ProgramGraph;
  readonly isLoading: boolean;
  readonly center: (name: string) => void;
}

/** The height of the frame in CSS pixels: that of the graph, within bounds. */
const LEAST = 420;
const HIGHEST = 720;
const ROOM = 60;
/** What is above and below the frame, which thus fits into the window. As in graph.css. */
const AROUND = 270;

export function GraphCard(props: GraphCardProps) {
  const { graph, isLoading, view, select, center } = props;
  const place = useRef<HTMLElement>(null);
  const layout = useMemo(() => layProgram(graph), [graph]);
  const mode: ColorMode = view.color === "time" ? "time" : "kind";
  const most = microseconds(
    graph.nodes.reduce((longest, { self }) => Math.max(longest, self || 0), 0),
  );
  const named = view.node ?? graph.centerName;
  const chosen = view.node === "" ? undefined : graph.nodes.find(({ name }) => name === named);
  const names = opened(view.opened);
  const latest = useRef({ graph, names, select, center });
  latest.current = { graph, names, select, center };
  // Stable functions, so that nodes are not rendered again.
  const actions = useMemo(() => {
    const nameOf = (node: number) =>
      latest.current.graph.nodes.find(({ id }) => id === node)?.name ?? "";
    return {
      choose: (node: number | null) => {
        if (
          node === null &&
          place.current?.querySelector(".graph-details")?.contains(document.activeElement)
        )
          place.current?.querySelector<SVGElement>(".graph-node[aria-pressed=true]")?.focus();
        latest.current.select({ node: node === null ? "" : nameOf(node) });
      },
      center: (node: number) => latest.current.center(nameOf(node)),
      turn: (name: string) => {
        const { names: before, select: go } = latest.current;
        const after = before.includes(name)
          ? before.filter((opened) => opened !== name)
          : [...before, name];
        go({ opened: after.length === 0 ? null : after.join(","), look: null });
      },
      open: (node: number) => actions.turn(nameOf(node)),
    };
  }, []);
  const isTable = view.graph === "table";
  const title = `${graph.centerName} in ${graph.name}(${graph.programId})`;
  const fileName = `graph_${graph.centerName}_${props.fileName}`;
  const room = Math.min(HIGHEST, innerHeight - AROUND);
  const height = Math.max(LEAST, Math.min(layout.height + ROOM, room));
  return (
    <Card
      class="graph-card"
      title="Graph"
      place={place}
      isBusy={isLoading}
      why={{
        formula:
          "Instructions within the chosen number of hops from the center. A hop leads to an operand or a user. Operands that only change the type or shape (bitcast) do not count as a hop. The operands of a tuple, the users of a constant, and the users of an instruction with more than 16 users are not followed. Constants appear inside their users, tuple elements on edges.",
        unit: "time: of all executions in the trace; FLOPs and bytes: per execution",
        source: "The program's HLO in the trace; times from events that name the instruction.",
      }}
      head={
        <>
          <span class="muted graph-counts">
            {plural(graph.nodes.length, "instruction")} within {plural(graph.hops, "hop")} of{" "}
            {graph.centerName.slice(0, 100)}
          </span>
          <span class="space" />
          <span class="picker-label">Color by</span>
          {(["kind", "time"] as const).map((choice) => (
            <SmallButton
              key={choice}
              aria-pressed={mode === choice}
              onClick={() => select({ color: choice === "kind" ? null : choice })}
            >
              {choice === "kind" ? "Kind" : "Self time"}
            </SmallButton>
          ))}
          <ChartMenu
            title="Graph"
            isTable={isTable}
            setTable={(table) => select({ graph: table ? "table" : null })}
            fileName={fileName}
            saveCsv={() => saveNodes(fileName, graph.nodes)}
            picture={async () => {
              const { drawProgramSvg } = await import("./graph_picture");
              return drawProgramSvg(graph, layout, mode, most, title);
            }}
            noun="picture"
          />
        </>
      }
    >
      {graph.nodes.length === 0 ? (
        <p class="muted">No instruction of this program could be read.</p>
      ) : isTable ? (
        <InstructionTable
          nodes={graph.nodes}
          toTimeline={(node) => {
            if (props.links.reason(TRACE) === null)
              props.links.open(TRACE, instructionEvents(graph, node));
          }}
        />
      ) : (
        <>
          <InstructionLegend nodes={graph.nodes} mode={mode} most={most} />
          <Around graph={graph} center={center} turn={actions.turn} />
          <div class={chosen ? "graph-parts with-details" : "graph-parts"}>
            <GraphCanvas
              graph={graph}
              layout={layout}
              height={height}
              mode={mode}
              most={most}
              chosen={chosen?.id ?? -1}
              label={`Graph of ${title}; ${formatCount(graph.nodes.length)} instructions`}
              lookText={view.look}
              select={select}
              {...actions}
            />
            {chosen ? (
              <InstructionDetails
                {...props}
                graph={graph}
                node={chosen}
                center={center}
                turn={actions.turn}
                close={() => actions.choose(null)}
              />
            ) : null}
          </div>
        </>
      )}
    </Card>
  );
}

function opened(text: string | undefined): readonly string[] {
  return text ? text.split(",") : [];
}

interface AroundProps {
  readonly graph: ProgramGraph;
  readonly center: (name: string) => void;
  readonly turn: (name: string) => void;
}

/** The computation of the graph, the expanded instructions, and what is left out. */
function Around({ graph, center, turn }: AroundProps) {
  const [outermost] = graph.clusters;
  const owners = graph.clusters.flatMap(({ owner }) => (owner ? [owner.name] : []));
  return (
    <div class="graph-around">
      {outermost && !outermost.isEntry ? (
        <p>
          Inside computation <code>{outermost.computation.slice(0, 200)}</code>
          {outermost.callers.length > 0 ? ", called by " : ""}
          {outermost.callers.slice(0, 8).map((name, index) => (
            <>
              {index > 0 ? ", " : ""}
              <LinkButton onClick={() => center(name)}>{name.slice(0, 100)}</LinkButton>
            </>
          ))}
        </p>
      ) : null}
      {owners.length > 0 ? (
        <p>
          Open:{" "}
          {[...new Set(owners)].map((name) => (
            <SmallButton
              key={name}
              title={`Collapse ${name.slice(0, 100)}`}
              onClick={() => turn(name)}
            >
              {name.slice(0, 100)} ✕
            </SmallButton>
          ))}
        </p>
      ) : null}
      {graph.omitted > 0 ? (
        <p role="note">
          <span aria-hidden="true">⚠ </span>+{formatCount(graph.omitted)} more are not drawn: at
          most {formatCount(graph.mostNodes)} instructions are shown, the nearest first.
        </p>
      ) : null}
    </div>
  );
}
