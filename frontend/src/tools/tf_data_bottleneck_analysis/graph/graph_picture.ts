/** The graph as a picture file: all that is drawn, at its own size. */
import { columnScale } from "../../../base/format";
import { resolveColor } from "../../../base/theme";
import { svgElement, svgText } from "../../../widgets/chart/svg_pen";
import { drawArrow, drawShapes, resolveColors } from "../../../widgets/graph/picture";
import type { GraphLayout } from "./graph_layout";
import type { GraphTree, Shown } from "./graph_tree";
import { EDGES, LEAST_START, nodeShapes, OUTLINES, stubShapes } from "./node_shapes";

const HEAD = 64;
const MARGIN = 16;
const LEAST = 620;
/** Browsers draw no larger pictures. */
const MOST = 16_000;

export function drawGraphSvg(
  tree: GraphTree,
  shown: Shown,
  layout: GraphLayout,
  title: string,
): string {
  const width = Math.max(layout.width + 2 * MARGIN, LEAST);
  const height = layout.height + HEAD + MARGIN;
  const scale = Math.min(1, MOST / Math.max(width, height));
  const root = svgElement("svg", {
    width: width * scale,
    height: height * scale,
    viewBox: `0 0 ${width} ${height}`,
  });
  const text = resolveColor("var(--text)");
  root.append(svgElement("rect", { width, height, fill: resolveColor("var(--background)") }));
  root.append(svgText(MARGIN, 24, title, text, { "font-weight": 600, "font-size": 15 }));
  drawLegend(root, text);
  root.append(arrow("critical"), arrow("other"));
  const content = svgElement("g", { transform: `translate(${MARGIN} ${HEAD})` });
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
  root.append(content);
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
  LEGEND.forEach(([kind, label], at) => {
    const x = MARGIN + at * 120;
    const box = { x, y: 37, width: 20, height: 12, rx: 2, fill: "none" };
    root.append(svgElement("rect", resolveColors({ ...box, ...OUTLINES[kind] })));
    root.append(svgText(x + 27, 47, label, text));
  });
}
