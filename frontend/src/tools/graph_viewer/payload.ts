/** The payload of graph_viewer: the neighborhood of an instruction, and its details. */
import { PayloadError } from "../../api/errors";
import {
  count,
  fields,
  flag,
  isRecord,
  type Json,
  number,
  records,
  text,
  texts,
} from "../../api/json";
import { parseWarnings } from "../../api/types";
import { type Bytes, bytes, type Microseconds, microseconds } from "../../base/units";

export type ProgramGraph = Readonly<ReturnType<typeof parseGraph>>;
export type InstructionNode = Readonly<ReturnType<typeof parseNode>>;
export type GraphEdge = Readonly<ReturnType<typeof parseEdge>>;
export type ListedProgram = Readonly<ReturnType<typeof parseProgram>>;
export type Facts = Readonly<ReturnType<typeof parseFacts>>;
export type NodeDetails = Readonly<ReturnType<typeof parseDetails>>;
export type Found = Readonly<ReturnType<typeof parseFound>>;

/** Throws PayloadError. */
export function parseGraph(json: unknown) {
  if (!isRecord(json) || !Array.isArray(json.nodes))
    throw new PayloadError("the graph has no list of nodes");
  const nodes = records(json.nodes).map(parseNode);
  const known = new Set(nodes.map(({ id }) => id));
  const clusters = records(json.clusters).map(parseCluster);
  const edges = records(json.edges).map(parseEdge);
  if (edges.some(({ from, to }) => !known.has(from) || !known.has(to)))
    throw new PayloadError("an edge refers to a missing node");
  if (nodes.some(({ cluster }) => !clusters[cluster]))
    throw new PayloadError("a node refers to a missing cluster");
  if (clusters.some(({ parent }, index) => parent >= index))
    throw new PayloadError("a cluster refers to a missing cluster");
  return {
    programs: records(json.programs).map(parseProgram),
    programId: text(json.program_id),
    name: text(json.name),
    host: text(json.host),
    instructions: count(json.instructions),
    /** Id of a node; -1 if the program has no instructions. */
    center: count(json.center, -1),
    centerName: text(json.center_name),
    hops: count(json.hops),
    nodes,
    edges,
    clusters,
    /** The number of instructions within the hops that are not drawn. */
    omitted: count(json.omitted),
    mostNodes: count(json.most_nodes),
    /** "TPU", "GPU", "CPU", or "" if nothing ran. */
    deviceType: text(json.device_type),
    warnings: parseWarnings(json.warnings),
  };
}

function parseProgram(json: Json) {
  return {
    id: text(json.program_id),
    name: text(json.name),
    host: text(json.host),
    /** 0 if it did not run. */
    time: microseconds(count(json.device_ps) / 1e6),
  };
}

/** The details of an instruction; unknown numbers are NaN. */
function parseFacts(json: Json) {
  return {
    name: text(json.name),
    opcode: text(json.opcode),
    shape: text(json.shape),
    category: text(json.category),
    group: text(json.group),
    details: texts(json.details),
    opName: text(json.op_name),
    source: text(json.source),
    /** Of one execution. */
    flops: number(json.flops),
    bytes: bytes(number(json.bytes)) as Bytes,
    occurrences: number(json.occurrences),
    /** Of all executions. */
    total: microseconds(number(json.total_ps) / 1e6) as Microseconds,
    self: microseconds(number(json.self_ps) / 1e6) as Microseconds,
  };
}

function parseNode(json: Json) {
  return {
    ...parseFacts(json),
    id: count(json.id, -1),
    hops: count(json.hops),
    cluster: count(json.cluster),
    canOpen: flag(json.can_open),
    constants: records(json.constants).map((constant) => ({
      operand: count(constant.operand),
      text: text(constant.text),
    })),
    leftOperands: count(json.left_operands),
    leftUsers: count(json.left_users),
  };
}

function parseEdge(json: Json) {
  return {
    from: count(json.from, -1),
    to: count(json.to, -1),
    /** -1 for a control dependency. */
    operand: count(json.operand, -1),
    /** -1 for the whole value. */
    element: count(json.tuple_index, -1),
  };
}

function parseCluster(json: Json) {
  return {
    computation: text(json.computation),
    /** The instruction that calls it; null for the outermost. */
    owner: isRecord(json.owner) ? parseFacts(json.owner) : null,
    parent: count(json.parent, -1),
    leftOut: count(json.left_out),
    isEntry: flag(json.is_entry),
    callers: texts(json.callers),
  };
}

/** Throws PayloadError. */
export function parseDetails(json: unknown) {
  if (!isRecord(json) || typeof json.text !== "string")
    throw new PayloadError("the text of the instruction is missing");
  return {
    ...parseFacts(json),
    text: json.text,
    computation: text(json.computation),
    callers: texts(json.callers),
    calls: texts(json.calls),
    operands: texts(json.operands),
    users: texts(json.users),
    userCount: count(json.user_count),
    stack: text(json.stack).split("\n").filter(Boolean),
  };
}

export function parseFound(json: unknown) {
  const answer = fields(json);
  return {
    count: count(answer.count),
    found: records(answer.found).map((instruction) => ({
      name: text(instruction.name),
      opcode: text(instruction.opcode),
      shape: text(instruction.shape),
      computation: text(instruction.computation),
      self: microseconds(number(instruction.self_ps) / 1e6),
    })),
  };
}

/** The lines of a program's HLO text. */
export function parseLines(json: unknown): readonly string[] {
  return text(fields(json).text).split("\n");
}
