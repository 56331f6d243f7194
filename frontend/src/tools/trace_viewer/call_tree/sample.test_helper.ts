/** Answers of the calls route for tests, written as nested calls. */
import { type CallOrder, type CallTree, makeCallTree } from "./call_tree";
import { parseCalls } from "./calls_api";

/** Self time and calls below, by name; "…" for other calls. */
export interface Call {
  readonly self: number;
  readonly below?: Readonly<Record<string, Call>>;
}

/** As the server sends a tree; each node is one call, whose event has the node's number. */
export function callsJson(below: Readonly<Record<string, Call>>, tracks: readonly string[] = []) {
  const nodes = { parent: [-1], name: [-1], total_ps: [0], self_ps: [0] };
  const text: string[] = [];
  const add = (calls: Readonly<Record<string, Call>>, parent: number): number => {
    let total = 0;
    for (const [name, call] of Object.entries(calls)) {
      const at = nodes.parent.length;
      if (name !== "…" && !text.includes(name)) text.push(name);
      nodes.parent.push(parent);
      nodes.name.push(name === "…" ? -1 : text.indexOf(name));
      nodes.self_ps.push(call.self);
      nodes.total_ps.push(0);
      nodes.total_ps[at] = call.self + add(call.below ?? {}, at);
      total += nodes.total_ps[at];
    }
    return total;
  };
  nodes.total_ps[0] = add(below, 0);
  return {
    overlap_ps: 0,
    names: {
      text,
      category: text.map(() => "host"),
      track: text.map((name) => tracks.indexOf(name)),
    },
    nodes: {
      ...nodes,
      count: nodes.parent.map((_, index) => (index === 0 ? nodes.parent.length - 1 : 1)),
      longest: nodes.parent.map((_, index) => (index === 0 ? -1 : index)),
      longest_ps: nodes.total_ps.map((total, index) => (index === 0 ? -1 : total)),
    },
  };
}

export function sampleTree(
  below: Readonly<Record<string, Call>>,
  order: CallOrder = "top_down",
): CallTree {
  return makeCallTree(parseCalls(callsJson(below)).columns, order, 0);
}

/** train 100: forward 60, of which matmul 40; loss 30; 10 of its own. And k 20. */
export const SAMPLE = {
  k: { self: 20 },
  train: {
    self: 10,
    below: {
      loss: { self: 30 },
      "…": { self: 0.5 },
      forward: { self: 20, below: { matmul: { self: 40 } } },
    },
  },
};
