/** Merges the call trees of several hosts: nodes with the same path of names become one. */
import { type CallColumns, type CallName, keyPart } from "./call_tree";

/** Unlisted calls are not merged with names, nor tracks with those of other hosts. */
export function mergeTrees(trees: readonly CallColumns[]): CallColumns {
  if (trees.length === 1) return trees[0];
  const names: CallName[] = [];
  const nameOf = new Map<string, number>();
  const placeOf = new Map<string, number>();
  const nodes: {
    parent: number;
    name: number;
    count: number;
    totalPs: number;
    selfPs: number;
    longest: number;
    longestPs: number;
    host: number;
  }[] = [];
  for (const tree of trees) {
    const place = new Int32Array(tree.parent.length);
    for (let index = 0; index < tree.parent.length; index++) {
      const part = keyPart(tree, index);
      const parent = index === 0 ? -1 : place[tree.parent[index]];
      const key = `${parent}\n${part}`;
      const known = index === 0 && nodes.length > 0 ? 0 : placeOf.get(key);
      if (known === undefined) {
        place[index] = nodes.length;
        placeOf.set(key, nodes.length);
        nodes.push({
          parent,
          name: tree.name[index] < 0 ? -1 : numberOf(part, tree.names[tree.name[index]]),
          count: tree.count[index],
          totalPs: tree.totalPs[index],
          selfPs: tree.selfPs[index],
          longest: tree.longest[index],
          longestPs: tree.longestPs[index],
          host: tree.host[index],
        });
        continue;
      }
      place[index] = known;
      const node = nodes[known];
      node.count += tree.count[index];
      node.totalPs += tree.totalPs[index];
      node.selfPs += tree.selfPs[index];
      if (tree.longestPs[index] > node.longestPs) {
        node.longest = tree.longest[index];
        node.longestPs = tree.longestPs[index];
        node.host = tree.host[index];
      }
    }
  }
  return {
    names,
    parent: Int32Array.from(nodes, (node) => node.parent),
    name: Int32Array.from(nodes, (node) => node.name),
    count: Float64Array.from(nodes, (node) => node.count),
    totalPs: Float64Array.from(nodes, (node) => node.totalPs),
    selfPs: Float64Array.from(nodes, (node) => node.selfPs),
    longest: Float64Array.from(nodes, (node) => node.longest),
    longestPs: Float64Array.from(nodes, (node) => node.longestPs),
    host: Int32Array.from(nodes, (node) => node.host),
  };

  function numberOf(key: string, name: CallName): number {
    const known = nameOf.get(key);
    if (known !== undefined) return known;
    nameOf.set(key, names.length);
    return names.push(name) - 1;
  }
}
