/** Charts as picture files: SVG built as elements, so that names are text whatever they hold. */
import { saveFile } from "../../base/save";

const SCALE = 2;
const SVG = "http://www.w3.org/2000/svg";

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

export function svgElement(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

export function svgText(
  x: number,
  y: number,
  content: string,
  fill: string,
  more: Readonly<Record<string, string | number>> = {},
): SVGElement {
  const made = svgElement("text", {
    x,
    y,
    fill,
    "font-family": "sans-serif",
    "font-size": 12,
    ...more,
  });
  // XML allows no control characters.
  made.textContent = content.replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, " ");
  return made;
}

/** What a custom property stands for under the theme in force. */
export function resolveColor(value: string): string {
  const probe = document.createElement("span");
  probe.style.color = value;
  document.body.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}
