/** The heat map as a picture file. */
import { resolveColor, svgElement, svgText } from "../../../widgets/chart/picture";
import { AXIS_HEIGHT, cellImage, type HeatDrawing, OUTLIER } from "./draw_heat_map";
import { rampColor } from "./ramp";

const HEAD = 64;
const MARGIN = 16;
const RAMP_WIDTH = 160;
const STOPS = 32;

export function drawHeatSvg(
  drawing: HeatDrawing,
  title: string,
  [first, last]: readonly [string, string],
): string {
  const { plan, left, ramp } = drawing;
  const width = Math.max(left + plan.width + 2 * MARGIN, 480);
  const height = HEAD + plan.height + AXIS_HEIGHT + MARGIN;
  const text = resolveColor("var(--text)");
  const root = svgElement("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  root.append(svgElement("rect", { width, height, fill: resolveColor("var(--background)") }));
  root.append(svgText(MARGIN, 24, title, text, { "font-weight": 600, "font-size": 15 }));
  root.append(svgText(MARGIN, 47, first, text));
  for (let at = 0; at < STOPS; at++) {
    const x = MARGIN + 80 + (at * RAMP_WIDTH) / STOPS;
    const fill = rampColor(ramp, at / (STOPS - 1));
    root.append(
      svgElement("rect", { x, y: 38, width: RAMP_WIDTH / STOPS + 0.5, height: 10, fill }),
    );
  }
  root.append(svgText(MARGIN + 80 + RAMP_WIDTH + 10, 47, last, text));
  const x = MARGIN + left;
  const image = svgElement("image", {
    x,
    y: HEAD,
    width: plan.width,
    height: plan.height,
    preserveAspectRatio: "none",
    "image-rendering": "pixelated",
  });
  image.setAttribute("href", cellImage(drawing).toDataURL());
  root.append(image, hatching(text));
  drawing.isTruncated.forEach((isCut, column) => {
    if (!isCut) return;
    const place = { x: x + column * plan.columnWidth, y: HEAD, width: plan.columnWidth };
    root.append(svgElement("rect", { ...place, height: plan.height, fill: "url(#hatch)" }));
  });
  drawing.isOutlier.forEach((isMarked, column) => {
    if (!isMarked) return;
    const middle = x + (column + 0.5) * plan.columnWidth;
    const [top, bottom] = [HEAD + plan.height + 1, HEAD + plan.height + 1 + OUTLIER];
    const points = `${middle},${top} ${middle - OUTLIER},${bottom} ${middle + OUTLIER},${bottom}`;
    root.append(svgElement("polygon", { points, fill: text }));
  });
  for (const label of drawing.rowLabels) {
    const place = { "text-anchor": "end", "font-size": 11 };
    root.append(svgText(x - 6, HEAD + label.middle + 4, label.text.slice(0, 24), text, place));
  }
  for (const label of drawing.columnLabels) {
    const place = { "text-anchor": "middle", "font-size": 11 };
    root.append(svgText(x + label.middle, HEAD + plan.height + 15, label.text, text, place));
  }
  return new XMLSerializer().serializeToString(root);
}

/** Stripes over what was not recorded whole. */
function hatching(stroke: string): SVGElement {
  const pattern = svgElement("pattern", {
    id: "hatch",
    width: 6,
    height: 6,
    patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(45)",
  });
  const line = { x1: 0, x2: 0, y1: 0, y2: 6, stroke, "stroke-width": 3, "stroke-opacity": 0.4 };
  pattern.append(svgElement("line", line));
  return pattern;
}
