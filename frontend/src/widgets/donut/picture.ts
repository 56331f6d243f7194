/** A donut with its legend as a picture file. */
import { formatRatio } from "../../base/format";
import { saveFile } from "../../base/save";
import { ratio } from "../../base/units";
import { ringPaths } from "./ring";
import type { Slice } from "./slices";

interface Picture {
  readonly title: string;
  readonly slices: readonly Slice[];
  /** CSS colours, which may be custom properties. */
  readonly colors: readonly string[];
  readonly labels: readonly string[];
}

const WIDTH = 640;
const LINE = 22;
const SCALE = 2;
const MAX_LABEL = 64;
const SVG = "http://www.w3.org/2000/svg";

export function exportSvg(picture: Picture): void {
  saveFile(`${picture.title}.svg`, new Blob([drawSvg(picture)], { type: "image/svg+xml" }));
}

export async function exportPng(picture: Picture): Promise<void> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawSvg(picture))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * SCALE;
  canvas.height = image.naturalHeight * SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => {
    if (blob) saveFile(`${picture.title}.png`, blob);
  });
}

/** Built as elements, so that names are text whatever they hold. */
function drawSvg({ title, slices, colors, labels }: Picture): string {
  const height = Math.max(slices.length * LINE + 60, 190);
  const color = (value: string) => resolveColor(value);
  const root = element("svg", { width: WIDTH, height, viewBox: `0 0 ${WIDTH} ${height}` });
  root.append(element("rect", { width: WIDTH, height, fill: color("var(--background)") }));
  root.append(text(16, 28, title, color("var(--text)"), { "font-weight": 600, "font-size": 15 }));
  const ring = element("g", { transform: "translate(90 120)" });
  ringPaths(
    slices.map((slice) => slice.share),
    68,
    42,
  ).forEach((d, at) => {
    ring.append(element("path", { d, fill: color(colors[at]) }));
  });
  root.append(ring);
  slices.forEach((slice, at) => {
    const y = 60 + at * LINE;
    root.append(
      element("rect", { x: 190, y: y - 10, width: 11, height: 11, fill: color(colors[at]) }),
    );
    const label = labels[at];
    const short = label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL - 1)}…` : label;
    root.append(text(208, y, short, color("var(--text)")));
    const share = text(WIDTH - 16, y, formatRatio(ratio(slice.share)), color("var(--text)"));
    share.setAttribute("text-anchor", "end");
    root.append(share);
  });
  return new XMLSerializer().serializeToString(root);
}

function element(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

function text(
  x: number,
  y: number,
  content: string,
  fill: string,
  more: Readonly<Record<string, string | number>> = {},
): SVGElement {
  const made = element("text", {
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
function resolveColor(value: string): string {
  const probe = document.createElement("span");
  probe.style.color = value;
  document.body.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}
