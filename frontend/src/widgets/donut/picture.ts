/** A donut with its legend as a picture file. */
import { formatRatio } from "../../base/format";
import { resolveColor } from "../../base/theme";
import { ratio } from "../../base/units";
import { svgElement, svgText } from "../chart/svg_pen";
import { ringPaths } from "./ring";
import type { Slice } from "./slices";

interface DonutPicture {
  readonly title: string;
  readonly slices: readonly Slice[];
  /** CSS colors, which may be custom properties. */
  readonly colors: readonly string[];
  readonly labels: readonly string[];
}

const WIDTH = 640;
const LINE = 22;
const MAX_LABEL = 64;

export function drawSvg({ title, slices, colors, labels }: DonutPicture): string {
  const height = Math.max(slices.length * LINE + 60, 190);
  const color = (value: string) => resolveColor(value);
  const root = svgElement("svg", { width: WIDTH, height, viewBox: `0 0 ${WIDTH} ${height}` });
  root.append(svgElement("rect", { width: WIDTH, height, fill: color("var(--background)") }));
  root.append(
    svgText(16, 28, title, color("var(--text)"), { "font-weight": 600, "font-size": 15 }),
  );
  const ring = svgElement("g", { transform: "translate(90 120)" });
  ringPaths(
    slices.map((slice) => slice.share),
    68,
    42,
  ).forEach((d, index) => {
    ring.append(svgElement("path", { d, fill: color(colors[index]) }));
  });
  root.append(ring);
  slices.forEach((slice, index) => {
    const y = 60 + index * LINE;
    root.append(
      svgElement("rect", { x: 190, y: y - 10, width: 11, height: 11, fill: color(colors[index]) }),
    );
    const label = labels[index];
    const short = label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL - 1)}…` : label;
    root.append(svgText(208, y, short, color("var(--text)")));
    const share = svgText(WIDTH - 16, y, formatRatio(ratio(slice.share)), color("var(--text)"));
    share.setAttribute("text-anchor", "end");
    root.append(share);
  });
  return new XMLSerializer().serializeToString(root);
}
