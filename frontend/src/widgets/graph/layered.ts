/**
 * A layered graph layout: sources above targets, with short edges and few crossings, improved in a
 * few sweeps. Sources: Sugiyama, Tagawa, Toda 1981; Gansner et al. 1993 (dot).
 */

export interface LayerNode {
  readonly width: number;
  readonly height: number;
}

export interface LayerEdge {
  /** Indices of nodes. */
  readonly from: number;
  readonly to: number;
}

interface Layered {
  readonly width: number;
  readonly height: number;
  /** Top left corners, by node. */
  readonly x: readonly number[];
  readonly y: readonly number[];
  /** By edge: where it crosses the layers between its ends, from start to end. */
  readonly bends: readonly (readonly { readonly x: number; readonly y: number }[])[];
}

const SWEEPS = 8;
const GAP = { across: 18, down: 38 };
/** The width of an edge that crosses a layer. */
const LANE = 10;

/** Edges that close a cycle, and loops, are laid out as if they were reversed. */
export function layLayers(nodes: readonly LayerNode[], edges: readonly LayerEdge[]): Layered {
  const forward = acyclic(nodes.length, edges);
  const rank = ranks(nodes.length, forward);
  const chains = withLanes(nodes, forward, rank);
  order(chains);
  const x = place(chains);
  const depth = Math.max(0, ...chains.rank) + 1;
  const heights = new Array<number>(depth).fill(0);
  for (let index = 0; index < nodes.length; index++)
    heights[rank[index]] = Math.max(heights[rank[index]], nodes[index].height);
  const tops: number[] = [];
  let top = 0;
  for (const height of heights) {
    tops.push(top);
    top += height + GAP.down;
  }
  const y = nodes.map(
    ({ height }, index) => tops[rank[index]] + (heights[rank[index]] - height) / 2,
  );
  return {
    width: Math.max(0, ...nodes.map(({ width }, index) => x[index] + width)),
    height: nodes.length === 0 ? 0 : top - GAP.down,
    x: x.slice(0, nodes.length),
    y,
    bends: forward.map(({ isReversed }, edge) => {
      const points = chains.lanes[edge].map((lane) => ({
        x: x[lane],
        y: tops[chains.rank[lane]] + heights[chains.rank[lane]] / 2,
      }));
      return isReversed ? points.reverse() : points;
    }),
  };
}

interface Forward extends LayerEdge {
  readonly isReversed: boolean;
}

/** The edges with back edges of a depth-first search reversed. */
function acyclic(count: number, edges: readonly LayerEdge[]): Forward[] {
  const after: number[][] = Array.from({ length: count }, () => []);
  edges.forEach(({ from }, index) => {
    after[from].push(index);
  });
  const state = new Uint8Array(count);
  const isBack = new Uint8Array(edges.length);
  const taken = new Uint32Array(count);
  for (let start = 0; start < count; start++) {
    if (state[start]) continue;
    const path = [start];
    state[start] = 1;
    while (path.length > 0) {
      const at = path[path.length - 1];
      if (taken[at] === after[at].length) {
        state[at] = 2;
        path.pop();
        continue;
      }
      const edge = after[at][taken[at]++];
      const { to } = edges[edge];
      if (state[to] === 1) isBack[edge] = 1;
      else if (state[to] === 0) {
        state[to] = 1;
        path.push(to);
      }
    }
  }
  return edges.map(({ from, to }, index) =>
    isBack[index] ? { from: to, to: from, isReversed: true } : { from, to, isReversed: false },
  );
}

/** Ranks by longest path from the sources; sources then move down next to their targets. */
function ranks(count: number, edges: readonly Forward[]): number[] {
  const after: number[][] = Array.from({ length: count }, () => []);
  const waits = new Uint32Array(count);
  for (const { from, to } of edges) {
    if (from === to) continue;
    after[from].push(to);
    waits[to]++;
  }
  const rank = new Array<number>(count).fill(0);
  const ready: number[] = [];
  for (let at = 0; at < count; at++) if (waits[at] === 0) ready.push(at);
  const sorted: number[] = [];
  while (ready.length > 0) {
    const at = ready.pop()!;
    sorted.push(at);
    for (const to of after[at]) {
      rank[to] = Math.max(rank[to], rank[at] + 1);
      if (--waits[to] === 0) ready.push(to);
    }
  }
  const isSource = new Uint8Array(count).fill(1);
  for (const { from, to } of edges) if (from !== to) isSource[to] = 0;
  for (const at of sorted.reverse())
    if (isSource[at] && after[at].length > 0)
      rank[at] = Math.min(...after[at].map((to) => rank[to])) - 1;
  const least = Math.min(0, ...rank);
  return rank.map((value) => value - least);
}

/** Nodes and lanes: an edge over several layers has a lane, a dummy node, in each layer between. */
interface Chains {
  readonly width: number[];
  readonly rank: number[];
  /** By edge: its lanes, from the top. */
  readonly lanes: number[][];
  readonly above: number[][];
  readonly below: number[][];
  readonly layers: number[][];
}

function withLanes(
  nodes: readonly LayerNode[],
  edges: readonly Forward[],
  rankOf: readonly number[],
): Chains {
  const width = nodes.map((node) => node.width);
  const rank = [...rankOf];
  const above: number[][] = nodes.map(() => []);
  const below: number[][] = nodes.map(() => []);
  const shared = new Map<string, number>();
  const lanes = edges.map(({ from, to }) => {
    const own: number[] = [];
    let last = from;
    for (let layer = rank[from] + 1; layer < rank[to]; layer++) {
      // Edges from the same node share their lanes.
      const key = `${from} ${layer}`;
      let lane = shared.get(key);
      if (lane === undefined) {
        lane = width.push(LANE) - 1;
        shared.set(key, lane);
        rank.push(layer);
        above.push([]);
        below.push([]);
        link(last, lane);
      }
      own.push(lane);
      last = lane;
    }
    if (from !== to) link(last, to);
    return own;
  });
  function link(from: number, to: number) {
    below[from].push(to);
    above[to].push(from);
  }
  const layers: number[][] = Array.from({ length: Math.max(0, ...rank) + 1 }, () => []);
  rank.forEach((layer, index) => {
    layers[layer].push(index);
  });
  return { width, rank, lanes, above, below, layers };
}

/** Each sweep orders a layer by the mean position of its neighbors in the previous layer. */
function order({ layers, above, below, rank }: Chains): void {
  const position = new Float64Array(rank.length);
  const number = () => {
    for (const layer of layers)
      layer.forEach((at, index) => {
        position[at] = index;
      });
  };
  number();
  const crossings = () => countCrossings(layers, below, position);
  let best = layers.map((layer) => [...layer]);
  let least = crossings();
  for (let sweep = 0; sweep < SWEEPS && least > 0; sweep++) {
    const isDown = sweep % 2 === 0;
    for (const layer of isDown ? layers : layers.toReversed()) {
      const middle = new Map(
        layer.map((at) => [at, mean((isDown ? above : below)[at], position) ?? position[at]]),
      );
      layer.sort((a, b) => middle.get(a)! - middle.get(b)! || position[a] - position[b]);
      layer.forEach((at, index) => {
        position[at] = index;
      });
    }
    const now = crossings();
    if (now < least) {
      least = now;
      best = layers.map((layer) => [...layer]);
    }
  }
  best.forEach((layer, at) => {
    layers[at] = layer;
  });
}

/** The number of crossings of edges between adjacent layers. */
function countCrossings(
  layers: readonly (readonly number[])[],
  below: readonly (readonly number[])[],
  position: Float64Array,
): number {
  let count = 0;
  layers.forEach((layer, index) => {
    const size = layers[index + 1]?.length ?? 0;
    // A Fenwick tree of the end positions seen so far.
    const tree = new Uint32Array(size + 1);
    let taken = 0;
    for (const from of layer) {
      const ends = below[from].map((to) => position[to]).sort((a, b) => a - b);
      for (const end of ends) {
        let before = 0;
        for (let i = end + 1; i > 0; i -= i & -i) before += tree[i];
        count += taken - before;
      }
      for (const end of ends) {
        for (let i = end + 1; i <= size; i += i & -i) tree[i]++;
        taken++;
      }
    }
  });
  return count;
}

/** Left edges: near the mean of the neighbors, in order and without overlaps. */
function place({ layers, above, below, width }: Chains): number[] {
  const center = new Float64Array(width.length);
  for (const layer of layers) {
    let x = 0;
    for (const at of layer) {
      center[at] = x + width[at] / 2;
      x += width[at] + GAP.across;
    }
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isDown = sweep % 2 === 0;
    const isLast = sweep >= SWEEPS - 2;
    for (const layer of isDown ? layers : layers.toReversed()) {
      const wish = layer.map((index) => {
        const near = isLast ? [...above[index], ...below[index]] : (isDown ? above : below)[index];
        return mean(near, center) ?? center[index];
      });
      spread(layer, wish, width, center);
    }
  }
  let least = Number.POSITIVE_INFINITY;
  for (let index = 0; index < width.length; index++)
    least = Math.min(least, center[index] - width[index] / 2);
  return width.map((size, index) => center[index] - size / 2 - least);
}

/** The ordered positions closest to the desired ones in least squares: pool adjacent violators. */
function spread(
  layer: readonly number[],
  wish: readonly number[],
  width: readonly number[],
  center: Float64Array,
): void {
  const offset: number[] = [];
  let x = 0;
  layer.forEach((at, index) => {
    if (index > 0) x += (width[layer[index - 1]] + width[at]) / 2 + GAP.across;
    offset.push(x);
  });
  const blocks: { sum: number; count: number }[] = [];
  layer.forEach((_, index) => {
    let block = { sum: wish[index] - offset[index], count: 1 };
    while (blocks.length > 0) {
      const last = blocks[blocks.length - 1];
      if (last.sum / last.count <= block.sum / block.count) break;
      block = { sum: block.sum + last.sum, count: block.count + last.count };
      blocks.pop();
    }
    blocks.push(block);
  });
  let index = 0;
  for (const { sum, count } of blocks)
    for (let left = count; left > 0; left--, index++)
      center[layer[index]] = sum / count + offset[index];
}

function mean(list: readonly number[], values: Float64Array): number | undefined {
  if (list.length === 0) return undefined;
  let sum = 0;
  for (const at of list) sum += values[at];
  return sum / list.length;
}
