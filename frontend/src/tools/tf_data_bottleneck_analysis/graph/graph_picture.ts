/** The graph as a picture file: all that is drawn, at its own size. */
import { columnScale } from "../../../base/format";
import { resolveColor } from "../../../base/theme";
import { svgElement, svgText } from "../../../widgets/chart/svg_pen";
import type { GraphLayout } from "./graph_layout";
import type { GraphTree, Shown } from "./graph_tree";
import { EDGES, LEAST_START, nodeShapes, OUTLINES, type Shape, stubShapes } from "./node_shapes";

const HEAD = 64;
const MARGIN = 16;
const LEAST = 620;
/** Browsers draw no larger pictures. */
const MOST = 16_000;

type Attributes = Readonly<Record<string, string | number>>;

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
      svgElement("path", resolved({ d: path, fill: "none", ...EDGES[kind], ...more })),
    );
  }
  const starts = tree.nodes.reduce((most, { start }) => Math.max(most, start || 0), 0);
  const startScale = columnScale("time", Math.max(starts, LEAST_START));
  for (const { node, x, y } of layout.nodes)
    content.append(drawn(nodeShapes(tree, tree.nodes[node], startScale), x, y));
  for (const { stub, x, y } of layout.stubs)
    content.append(drawn(stubShapes(shown.stubs[stub]), x, y));
  root.append(content);
  return new XMLSerializer().serializeToString(root);
}

function arrow(kind: "critical" | "other"): SVGElement {
  const marker = svgElement("marker", {
    id: `arrow-${kind}`,
    viewBox: "0 0 8 8",
    refX: 7,
    refY: 4,
    markerWidth: 8,
    markerHeight: 8,
    markerUnits: "userSpaceOnUse",
    orient: "auto",
  });
  const fill = resolveColor(EDGES[kind].stroke);
  marker.append(svgElement("path", { d: "M 0 0 L 8 4 L 0 8 z", fill }));
  return marker;
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
    root.append(svgElement("rect", resolved({ ...box, ...OUTLINES[kind] })));
    root.append(svgText(x + 27, 47, label, text));
  });
}

function drawn(shapes: readonly Shape[], x: number, y: number): SVGElement {
  const group = svgElement("g", { transform: `translate(${x} ${y})` });
  for (const { kind, attributes, text } of shapes) {
    const { class: _, x: left, y: top, fill, ...more } = resolved(attributes);
    group.append(
      kind === "text"
        ? svgText(Number(left), Number(top), text ?? "", String(fill), more)
        : svgElement(kind, { x: left, y: top, fill, ...more }),
    );
  }
  return group;
}

/** Custom properties as the colours that they stand for now. */
function resolved(attributes: Attributes): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      typeof value === "string" && value.startsWith("var(") ? resolveColor(value) : value,
    ]),
  );
}
