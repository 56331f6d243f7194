/** Targets in the trace viewer for executions of pipelines, and for iterators. */
import type { View } from "../../base/url_state";
import { iteratorEvents } from "../links/trace_links";
import type { CallGraph, IteratorNode } from "./payload";

interface TracePlace {
  readonly view: View;
  readonly hosts: readonly string[];
}

/** The execution, without highlighted events; null if its time is unknown. */
export function executionPlace(graph: CallGraph): TracePlace | null {
  const root = rootOf(graph);
  if (!root || !(root.total >= 0)) return null;
  return { view: between(root.start, root.start + root.total), hosts: hostsOf(graph) };
}

/**
 * All events of an iterator and its copies, marked, with the execution in view: from before it where stages that
 * work ahead began earlier.
 */
export function iteratorPlace(graph: CallGraph, node: IteratorNode): TracePlace {
  const root = rootOf(graph);
  const begin = Math.min(root?.start ?? Number.NaN, node.start);
  const end = root ? root.start + root.total : Number.NaN;
  const view = iteratorEvents(node.longName);
  return {
    view: begin < end ? { ...view, ...between(begin, end) } : view,
    hosts: hostsOf(graph),
  };
}

function rootOf({ nodes }: CallGraph): IteratorNode | undefined {
  return nodes.find(({ parent }) => parent < 0);
}

function hostsOf({ host }: CallGraph): readonly string[] {
  return host === "" ? [] : [host];
}

function between(from: number, to: number): View {
  const ms = (us: number) => String(Number((us / 1000).toFixed(6)));
  return { from_ms: ms(from), to_ms: ms(to) };
}
