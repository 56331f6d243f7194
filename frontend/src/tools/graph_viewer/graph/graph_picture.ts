/** The graph as a picture file at its natural size. */
import { resolveColor } from "../../../base/theme";
import type { Microseconds } from "../../../base/units";
import { svgElement, svgText } from "../../../widgets/chart/svg_pen";
import {
  drawArrow,
  drawShapes,
  MARGIN,
  resolveColors,
  startPicture,
} from "../../../widgets/graph/picture";
import type { ProgramGraph } from "../payload";
import { type ColorMode, GROUPS, nodeShapes } from "./node_shapes";
import type { ProgramLayout } from "./program_layout";

export function drawProgramSvg(
  graph: ProgramGraph,
  layout: ProgramLayout,
  mode: ColorMode,
  most: Microseconds,
  title: string,
): string {
  const groups = Object.entries(GROUPS).filter(([group]) =>
    graph.nodes.some((node) => node.group === group),
  );
  const { root, content, text } = startPicture(layout, title, groups.length * 190);
  const muted = resolveColor("var(--muted)");
  groups.forEach(([, [color, label]], index) => {
    const box = { x: MARGIN + index * 190, y: 37, width: 12, height: 12, rx: 2, fill: color };
    root.append(svgElement("rect", resolveColors(box)));
    root.append(svgText(MARGIN + index * 190 + 18, 47, label, text));
  });
  root.append(drawArrow("arrow", muted));
  for (const { cluster, ...box } of layout.clusters) {
    content.append(svgElement("rect", { ...box, rx: 6, fill: "none", stroke: muted }));
    const name = graph.clusters[cluster].computation.slice(0, 60);
    content.append(svgText(box.x + 10, box.y + 18, name, text));
  }
  for (const { path, edge } of layout.edges)
    content.append(
      svgElement("path", {
        d: path,
        fill: "none",
        stroke: muted,
        "marker-end": "url(#arrow)",
        ...(edge.operand < 0 ? { "stroke-dasharray": "4 3" } : {}),
      }),
    );
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  for (const { node, x, y } of layout.nodes)
    content.append(
      drawShapes(nodeShapes(byId.get(node)!, mode, most, node === graph.center), x, y),
    );
  return new XMLSerializer().serializeToString(root);
}
