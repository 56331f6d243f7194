/** Charts as picture files. SVG is built from elements, so that names cannot become markup. */
import { saveFile } from "../../base/save";
import { resolveColor } from "../../base/theme";
import type { Pen } from "./pen";
import { svgElement, svgPen, svgText } from "./svg_pen";

const SCALE = 2;
const MARGIN = 16;
const HEAD = 64;
const LEGEND = { left: 28, width: 220, line: 22 } as const;

export function saveSvg(title: string, svg: string): void {
  saveFile(`${title}.svg`, new Blob([svg], { type: "image/svg+xml" }));
}

export async function savePng(title: string, svg: string): Promise<void> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * SCALE;
  canvas.height = image.naturalHeight * SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => {
    if (blob) saveFile(`${title}.png`, blob);
  });
}

interface PictureInput {
  readonly title: string;
  /** Below the title: what the axes measure. */
  readonly note?: string;
  /** Of the chart in pixels. */
  readonly width: number;
  readonly height: number;
  /** Beside the chart, from the top; colors may be custom properties. */
  readonly legend?: readonly { readonly label: string; readonly color: string }[];
  readonly draw: (pen: Pen) => void;
}

/** An SVG file of a chart with its title and its legend. */
export function drawPicture(picture: PictureInput): string {
  const { title, note = "", width, height, legend = [], draw } = picture;
  const size = {
    width: Math.ceil(width + 2 * MARGIN + (legend.length > 0 ? LEGEND.width : 0)),
    height: Math.ceil(HEAD + Math.max(height, legend.length * LEGEND.line) + MARGIN),
  };
  const root = svgElement("svg", { ...size, viewBox: `0 0 ${size.width} ${size.height}` });
  const text = resolveColor("var(--text)");
  const chart = svgElement("g", { transform: `translate(${MARGIN} ${HEAD})` });
  root.append(
    svgElement("rect", { ...size, fill: resolveColor("var(--background)") }),
    svgText(MARGIN, 28, title, text, { "font-weight": 600, "font-size": 15 }),
    svgText(MARGIN, 50, note, text),
    chart,
  );
  legend.forEach(({ label, color }, index) => {
    const x = MARGIN + width + LEGEND.left;
    const y = HEAD + 8 + index * LEGEND.line;
    const fill = resolveColor(color);
    root.append(svgElement("rect", { x, y, width: 11, height: 11, fill }));
    root.append(svgText(x + 18, y + 10, label, text));
  });
  draw(svgPen(chart));
  return new XMLSerializer().serializeToString(root);
}
