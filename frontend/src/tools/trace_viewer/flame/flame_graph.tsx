/** The flame graph of calls, colored like the timeline. */
import { useMemo } from "preact/hooks";
import {
  type ColorIndex,
  colorOfMeaning,
  hueOfName,
  hueOfNumber,
} from "../../../widgets/canvas/event_colors";
import { Icicle, type IcicleState } from "../../../widgets/icicle/icicle";
import type { IcicleStyle } from "../../../widgets/icicle/icicle_painter";
import { callFacts } from "../call_tree/call_facts";
import { type CallTree, callName } from "../call_tree/call_tree";
import { type CallSearch, MATCHES } from "../call_tree/search_calls";
import { asInTiles } from "../data/type_table";
import { ROW_HEIGHT } from "../model/lanes/lane_layout";
import { shortName } from "../model/short_name";
import { formatPs } from "../model/time";
import type { ColorBy } from "../model/types";
import type { Category } from "../protocol/payload";
import { CallCard } from "./call_card";

interface FlameGraphProps extends IcicleState {
  readonly tree: CallTree;
  readonly search: CallSearch | null;
  readonly colorBy: ColorBy;
  readonly categories: readonly Category[];
}

export function FlameGraph(props: FlameGraphProps) {
  const { tree, search, colorBy, categories, focus, selected, select, zoom } = props;
  const style = useMemo(
    () => styleOf(tree, search, colorsOf(tree, colorBy, categories)),
    [tree, search, colorBy, categories],
  );
  return (
    <Icicle
      label={`Flame graph, ${tree.order === "top_down" ? "top down" : "bottom up"}`}
      {...{ tree, style, focus, selected, select, zoom }}
      describe={(node) => callFacts(tree, node)}
      card={(node) => <CallCard tree={tree} node={node} />}
    />
  );
}

function styleOf(
  tree: CallTree,
  search: CallSearch | null,
  colorOf: (node: number) => ColorIndex,
): IcicleStyle {
  const short = new Map<string, string>();
  return {
    rowHeight: ROW_HEIGHT,
    colorOf,
    isPale: (node) => search !== null && (search.marks[node] & MATCHES) === 0,
    labelOf: (node) => {
      const name = callName(tree, node);
      if (node === 0) return `${name}: ${formatPs(tree.totalPs[0])}`;
      let label = short.get(name);
      if (label === undefined) {
        label = shortName(name);
        short.set(name, label);
      }
      return label;
    },
  };
}

/** The color as in the timeline; -1 for none. Calls of several steps are one node, without a step. */
function colorsOf(
  tree: CallTree,
  colorBy: ColorBy,
  categories: readonly Category[],
): (node: number) => ColorIndex {
  const hues = new Map<string, ColorIndex>();
  return (node) => {
    const name = tree.name[node];
    if (name < 0 || tree.names[name].isTrack) return -1;
    const { text, category } = tree.names[name];
    if (colorBy === "category" || colorBy === "group") {
      const index = categories.findIndex((candidate) => candidate.name === category);
      return colorBy === "group"
        ? colorOfMeaning(categories[index]?.meaning ?? "")
        : hueOfNumber(Math.max(index, 0));
    }
    let hue = hues.get(text);
    if (hue === undefined) {
      hue = hueOfName(asInTiles(text));
      hues.set(text, hue);
    }
    return hue;
  };
}
