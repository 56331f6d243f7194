/** Parts of graphs in picture files. */
import { resolveColor } from "../../base/theme";
import { svgElement, svgText } from "../chart/svg_pen";
import type { Shape } from "./shapes";

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

/** Custom properties as the colours that they stand for now. */
export function resolveColors(attributes: Shape["attributes"]): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      typeof value === "string" && value.startsWith("var(") ? resolveColor(value) : value,
    ]),
  );
}
