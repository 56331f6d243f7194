/** An icicle chart of programs and their ops, with bars for the used share of a peak. */
import { useMemo } from "preact/hooks";
import { cut } from "../../base/names";
import { type ColorIndex, GRAY, hueOfName } from "../../widgets/canvas/event_colors";
import { Icicle, type IcicleState } from "../../widgets/icicle/icicle";
import type { IcicleStyle } from "../../widgets/icicle/icicle_painter";
import { formatPicoseconds, nodeFacts } from "./tree/node_facts";
import { type OpTree, usedShare } from "./tree/op_tree";

const ROW_HEIGHT = 24;
const MOST_LETTERS = 300;

export function OpIcicle(props: IcicleState & { readonly tree: OpTree }) {
  const { tree } = props;
  const style = useMemo(() => styleOf(tree), [tree]);
  const facts = (node: number) => cut(nodeFacts(tree, node), MOST_LETTERS);
  return <Icicle {...props} label="Time per op" style={style} describe={facts} card={facts} />;
}

function styleOf(tree: OpTree): IcicleStyle {
  return {
    rowHeight: ROW_HEIGHT,
    colorOf: (node) => colorOf(tree, node),
    labelOf: (node) =>
      node === 0 ? `${tree.label[0]}: ${formatPicoseconds(tree.weightPs[0])}` : tree.label[node],
    barOf: (node) => usedShare(tree, node),
  };
}

/** Colors by name, as in the timeline; -1 for the root and for ops that are not loaded. */
function colorOf({ kind, label }: OpTree, node: number): ColorIndex {
  if (kind[node] === "idle") return GRAY;
  if (kind[node] === "root" || kind[node] === "rest") return -1;
  return hueOfName(label[node]);
}
