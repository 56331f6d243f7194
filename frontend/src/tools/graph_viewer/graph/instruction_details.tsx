/** The details of one instruction, beside the graph. */
import { formatBytes, formatCount, formatPrefixed, formatTime, plural } from "../../../base/format";
import { microseconds } from "../../../base/units";
import { LinkButton, SmallButton } from "../../../widgets/controls/buttons";
import { CopyButton } from "../../../widgets/controls/copy_button";
import { DetailsAside } from "../../../widgets/graph/details_aside";
import { type Definition, DefinitionList } from "../../../widgets/text/definition_list";
import { ToolLink } from "../../links/tool_link";
import { TRACE } from "../../links/trace_links";
import type { PageProps } from "../../tool";
import {
  type InstructionNode,
  type NodeDetails,
  type ProgramGraph,
  parseDetails,
} from "../payload";
import { instructionEvents } from "../trace_events";
import { useAnswer } from "../use_answer";

interface InstructionDetailsProps extends PageProps<ProgramGraph> {
  readonly graph: ProgramGraph;
  readonly node: InstructionNode;
  readonly center: (name: string) => void;
  readonly turn: (name: string) => void;
  readonly close: () => void;
}

const LISTED = 12;

export function InstructionDetails(props: InstructionDetailsProps) {
  const { graph, node, center, turn, close, links, hosts } = props;
  const asked = { type: "node", node_name: node.name };
  const { value: details, error } = useAnswer(props.ask, graph, asked, parseDetails);
  const didRun = node.occurrences > 0;
  const isCenter = node.id === graph.center;
  const host = hosts.length > 1 ? [graph.host] : undefined;
  return (
    <DetailsAside title={node.name} close={close}>
      <p class="graph-actions">
        <SmallButton disabled={isCenter} onClick={() => center(node.name)}>
          {isCenter ? "Centered" : "Center on this"}
        </SmallButton>
        {node.canOpen ? <SmallButton onClick={() => turn(node.name)}>Expand</SmallButton> : null}
      </p>
      <p class="graph-links">
        {didRun ? (
          <ToolLink
            links={links}
            tool={TRACE}
            view={instructionEvents(graph, node)}
            hosts={host}
            title="Show its events in the trace viewer"
          >
            Events
          </ToolLink>
        ) : null}
        <ToolLink
          links={links}
          tool="hlo_stats"
          view={{ "f.hlo_op_name": `=${node.name}`, filters: "1" }}
        >
          {links.short("hlo_stats")}
        </ToolLink>
        <ToolLink
          links={links}
          tool="op_profile"
          view={{ program_id: graph.programId, node_name: didRun ? node.name : "" }}
        >
          {links.short("op_profile")}
        </ToolLink>
        <ToolLink links={links} tool="memory_viewer" view={{ program_id: graph.programId }}>
          {links.short("memory_viewer")}
        </ToolLink>
      </p>
      <DefinitionList items={facts(node)} />
      {error !== "" ? <p role="alert">⚠ {error.slice(0, 300)}</p> : null}
      {details ? <Whole details={details} node={node} center={center} /> : null}
    </DetailsAside>
  );
}

function facts(node: InstructionNode): Definition[] {
  const didRun = node.occurrences > 0;
  const none = "no events in the trace";
  const unknown = "no cost model for this opcode";
  return [
    { id: "opcode", label: "Opcode", value: node.opcode, note: noteOf(node) },
    { id: "op", label: "Op", value: node.opName || null, reason: "not recorded" },
    { id: "source", label: "Source", value: node.source || null, reason: "not recorded" },
    {
      id: "self",
      label: "Self time",
      value: didRun ? formatTime(node.self) : null,
      note: didRun ? `in ${plural(node.occurrences, "execution")}` : undefined,
      reason: none,
    },
    {
      id: "total",
      label: "Total time",
      value: didRun ? formatTime(node.total) : null,
      note: didRun ? `${formatTime(microseconds(node.total / node.occurrences))} each` : undefined,
      reason: none,
    },
    {
      id: "flops",
      label: "FLOPs",
      value: Number.isNaN(node.flops) ? null : formatPrefixed(node.flops, "FLOP"),
      note: "per execution",
      reason: unknown,
    },
    {
      id: "bytes",
      label: "Bytes",
      value: Number.isNaN(node.bytes) ? null : formatBytes(node.bytes),
      note: "read and written per execution",
      reason: unknown,
    },
  ].map(({ note, ...item }) => (item.value === null ? item : { ...item, note }));
}

function noteOf({ category, opcode }: InstructionNode): string | undefined {
  return category === opcode ? undefined : category;
}

interface WholeProps {
  readonly details: NodeDetails;
  readonly node: InstructionNode;
  readonly center: (name: string) => void;
}

function Whole({ details, node, center }: WholeProps) {
  return (
    <>
      <h4>
        HLO <CopyButton text={() => details.text} label="Copy" title="Copy the text" />
      </h4>
      <pre class="graph-hlo">{details.text.slice(0, 20_000)}</pre>
      <h4>Shape</h4>
      <p class="graph-shape">
        <code>{details.shape.slice(0, 2000)}</code>
      </p>
      <Names title="Operands" names={details.operands} center={center} />
      <Names title="Users" names={details.users} count={details.userCount} center={center} />
      {node.constants.length > 0 ? (
        <>
          <h4>Constants</h4>
          <ul class="plain graph-names">
            {node.constants.slice(0, LISTED).map(({ operand, text }) => (
              <li key={operand}>
                operand {operand}: <code>{text.slice(0, 200)}</code>
              </li>
            ))}
          </ul>
        </>
      ) : null}
      {details.calls.length > 0 ? (
        <Names title="Calls" names={details.calls} center={center} />
      ) : null}
      <h4>Computation</h4>
      <p>
        <LinkButton onClick={() => center(details.computation)}>
          {details.computation.slice(0, 200)}
        </LinkButton>
        {details.callers.length > 0 ? <span class="muted"> called by </span> : null}
        {details.callers.slice(0, LISTED).map((name) => (
          <LinkButton key={name} onClick={() => center(name)}>
            {name.slice(0, 100)}{" "}
          </LinkButton>
        ))}
      </p>
      {details.stack.length > 0 ? (
        <>
          <h4>Stack</h4>
          <ol class="plain graph-stack">
            {details.stack.map((frame, index) => (
              <li key={index}>{frame.slice(0, 300)}</li>
            ))}
          </ol>
        </>
      ) : null}
    </>
  );
}

interface NamesProps {
  readonly title: string;
  readonly names: readonly string[];
  readonly count?: number;
  readonly center: (name: string) => void;
}

function Names({ title, names, count = names.length, center }: NamesProps) {
  return (
    <>
      <h4>
        {title} {count > 0 ? <span class="muted">{formatCount(count)}</span> : null}
      </h4>
      {count === 0 ? <p class="muted">none</p> : null}
      <ul class="plain graph-names">
        {names.slice(0, LISTED).map((name, index) => (
          <li key={index}>
            <LinkButton onClick={() => center(name)}>{name.slice(0, 100)}</LinkButton>
          </li>
        ))}
        {count > LISTED ? <li class="muted">and {formatCount(count - LISTED)} more</li> : null}
      </ul>
    </>
  );
}
