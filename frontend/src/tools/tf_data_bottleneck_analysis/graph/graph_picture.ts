/** The graph as a picture file at its natural size. */
import { columnScale } from "../../../base/format";
import { resolveColor } from "../../../base/theme";
import { svgElement, svgText } from "../../../widgets/chart/svg_pen";
import {
  drawArrow,
  drawShapes,
  MARGIN,
  resolveColors,
  startPicture,
} from "../../../widgets/graph/picture";
import type { GraphLayout } from "./graph_layout";
import type { GraphTree, ShownNodes } from "./graph_tree";
import { EDGES, LEAST_START, nodeShapes, OUTLINES, stubShapes } from "./node_shapes";

export function drawGraphSvg(
  tree: GraphTree,
  shown: ShownNodes,
  layout: GraphLayout,
  title: string,
): string {
  const { root, content, text } = startPicture(layout, title);
  drawLegend(root, text);
  root.append(arrow("critical"), arrow("other"));
  for (const { path, isCritical, isOfMany } of layout.edges) {
    const kind = isCritical ? "critical" : "other";
    const more = { ...(isOfMany ? EDGES.ofMany : {}), "marker-end": `url(#arrow-${kind})` };
    content.append(
      svgElement("path", resolveColors({ d: path, fill: "none", ...EDGES[kind], ...more })),
    );
  }
  const starts = tree.nodes.reduce((most, { start }) => Math.max(most, start || 0), 0);
  const startScale = columnScale("time", Math.max(starts, LEAST_START));
  for (const { node, x, y } of layout.nodes)
    content.append(drawShapes(nodeShapes(tree, tree.nodes[node], startScale), x, y));
  for (const { stub, x, y } of layout.stubs)
    content.append(drawShapes(stubShapes(shown.stubs[stub]), x, y));
  return new XMLSerializer().serializeToString(root);
}

function arrow(kind: "critical" | "other"): SVGElement {
  return drawArrow(`arrow-${kind}`, resolveColor(EDGES[kind].stroke));
}

const LEGEND: readonly (readonly [kind: keyof typeof OUTLINES, label: string])[] = [
  ["bottleneck", "bottleneck"],
  ["critical", "critical path"],
  ["other", "not critical"],
];

function drawLegend(root: SVGElement, text: string): void {
  LEGEND.forEach(([kind, label], index) => {
    const x = MARGIN + index * 120;
    const box = { x, y: 37, width: 20, height: 12, rx: 2, fill: "none" };
    root.append(svgElement("rect", resolveColors({ ...box, ...OUTLINES[kind] })));
    root.append(svgText(x + 27, 47, label, text));
  });
}
