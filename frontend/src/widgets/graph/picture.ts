/** Parts of graphs in picture files. */
import { resolveColor } from "../../base/theme";
import { svgElement, svgText } from "../chart/svg_pen";
import type { Shape } from "./shapes";

/** CSS pixels around the graph, and above it for the title and the legend. */
export const MARGIN = 16;
const HEAD = 64;
const LEAST = 620;
/** The largest size that browsers can draw. */
const MOST = 16_000;

interface GraphPicture {
  readonly root: SVGElement;
  /** Where the graph is drawn. */
  readonly content: SVGElement;
  /** The text color. */
  readonly text: string;
}

/** Starts a picture of a graph of this size, with a title and room for a legend of this width. */
export function startPicture(
  layout: { readonly width: number; readonly height: number },
  title: string,
  legendWidth = 0,
): GraphPicture {
  const width = Math.max(layout.width + 2 * MARGIN, LEAST, legendWidth);
  const height = layout.height + HEAD + MARGIN;
  const scale = Math.min(1, MOST / Math.max(width, height));
  const root = svgElement("svg", {
    width: width * scale,
    height: height * scale,
    viewBox: `0 0 ${width} ${height}`,
  });
  const text = resolveColor("var(--text)");
  const content = svgElement("g", { transform: `translate(${MARGIN} ${HEAD})` });
  root.append(
    svgElement("rect", { width, height, fill: resolveColor("var(--background)") }),
    svgText(MARGIN, 24, title, text, { "font-weight": 600, "font-size": 15 }),
    content,
  );
  return { root, content, text };
}

export function drawArrow(id: string, fill: string): SVGElement {
  const marker = svgElement("marker", {
    id,
    viewBox: "0 0 8 8",
    refX: 7,
    refY: 4,
    markerWidth: 8,
    markerHeight: 8,
    markerUnits: "userSpaceOnUse",
    orient: "auto",
  });
  marker.append(svgElement("path", { d: "M 0 0 L 8 4 L 0 8 z", fill }));
  return marker;
}

/** Shapes at a place, in a picture file. */
export function drawShapes(shapes: readonly Shape[], x: number, y: number): SVGElement {
  const group = svgElement("g", { transform: `translate(${x} ${y})` });
  for (const { kind, attributes, text } of shapes) {
    const { class: _, x: left, y: top, fill, ...more } = resolveColors(attributes);
    group.append(
      kind === "text"
        ? svgText(Number(left), Number(top), text ?? "", String(fill), more)
        : svgElement(kind, { x: left, y: top, fill, ...more }),
    );
  }
  return group;
}

/** The attributes with custom properties replaced by their current colors. */
export function resolveColors(attributes: Shape["attributes"]): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      typeof value === "string" && value.startsWith("var(") ? resolveColor(value) : value,
    ]),
  );
}
