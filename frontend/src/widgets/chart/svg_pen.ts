/** The pen of picture files: it builds SVG elements, so that names cannot become markup. */
import type { Pen } from "./pen";

const SVG = "http://www.w3.org/2000/svg";

const ANCHORS: Readonly<Record<string, string>> = { right: "end", center: "middle" };
/** The offset from a text's position down to its baseline, as a part of the font size. */
const BASELINES: Readonly<Record<string, number>> = { middle: 0.35, top: 0.8 };

/** The initial state; `save` and `restore` keep copies of it. */
const PLAIN = {
  fillStyle: "#000" as Pen["fillStyle"],
  strokeStyle: "#000" as Pen["strokeStyle"],
  lineWidth: 1,
  lineJoin: "miter" as CanvasLineJoin,
  globalAlpha: 1,
  font: "12px sans-serif",
  textAlign: "left" as CanvasTextAlign,
  textBaseline: "alphabetic" as CanvasTextBaseline,
  imageSmoothingEnabled: true,
  dash: [] as readonly number[],
};

/** A pen that appends elements to `group`. */
export function svgPen(group: SVGElement): Pen {
  const state = { ...PLAIN };
  const saved: { readonly group: SVGElement; readonly state: typeof PLAIN }[] = [];
  const size = () => Number.parseFloat(state.font);
  let target = group;
  let path = "";
  let clips = 0;
  const at = (x: number, y: number) => `${digits(x)} ${digits(y)}`;
  const put = (name: string, attributes: Readonly<Record<string, string | number>>) => {
    const element = svgElement(name, attributes);
    if (state.globalAlpha < 1) element.setAttribute("opacity", String(state.globalAlpha));
    target.append(element);
  };
  const filled = () => ({ fill: String(state.fillStyle) });
  const stroked = () => ({
    fill: "none",
    stroke: String(state.strokeStyle),
    "stroke-width": state.lineWidth,
    ...(state.lineJoin === "miter" ? {} : { "stroke-linejoin": state.lineJoin }),
    ...(state.dash.length > 0 ? { "stroke-dasharray": state.dash.join(" ") } : {}),
  });
  const box = (x: number, y: number, width: number, height: number) => ({
    x: digits(x),
    y: digits(y),
    width: digits(width),
    height: digits(height),
  });
  const pen = {
    setLineDash: (dash: readonly number[]) => {
      state.dash = dash;
    },
    save: () => {
      saved.push({ group: target, state: { ...state } });
    },
    restore: () => {
      const last = saved.pop();
      if (!last) return;
      target = last.group;
      Object.assign(state, last.state);
    },
    beginPath: () => {
      path = "";
    },
    moveTo: (x: number, y: number) => {
      path += `M${at(x, y)}`;
    },
    lineTo: (x: number, y: number) => {
      path += `${path === "" ? "M" : "L"}${at(x, y)}`;
    },
    closePath: () => {
      path += "z";
    },
    rect: (x: number, y: number, width: number, height: number) => {
      path += `M${at(x, y)}h${digits(width)}v${digits(height)}h${digits(-width)}z`;
    },
    /** Whole circles only. */
    arc: (x: number, y: number, radius: number) => {
      const half = `a${radius} ${radius} 0 1 0`;
      path += `M${at(x - radius, y)}${half} ${2 * radius} 0${half} ${-2 * radius} 0z`;
    },
    clip: () => {
      const id = `clip-${clips++}`;
      const shape = svgElement("clipPath", { id });
      shape.append(svgElement("path", { d: path }));
      const clipped = svgElement("g", { "clip-path": `url(#${id})` });
      target.append(shape, clipped);
      target = clipped;
    },
    fill: () => put("path", { d: path, ...filled() }),
    stroke: () => put("path", { d: path, ...stroked() }),
    fillRect: (x: number, y: number, width: number, height: number) =>
      put("rect", { ...box(x, y, width, height), ...filled() }),
    strokeRect: (x: number, y: number, width: number, height: number) =>
      put("rect", { ...box(x, y, width, height), ...stroked() }),
    fillText: (text: string, x: number, y: number) => {
      const below = (BASELINES[state.textBaseline] ?? 0) * size();
      const more = { "font-size": size(), "text-anchor": ANCHORS[state.textAlign] ?? "start" };
      target.append(svgText(digits(x), digits(y + below), text, String(state.fillStyle), more));
    },
    drawImage: (image: HTMLCanvasElement, x: number, y: number, width: number, height: number) =>
      put("image", {
        ...box(x, y, width, height),
        href: image.toDataURL(),
        preserveAspectRatio: "none",
        ...(state.imageSmoothingEnabled ? {} : { "image-rendering": "pixelated" }),
      }),
    measureText: (text: string) => ({ width: textWidth(text, size()) }),
  };
  for (const key of Object.keys(PLAIN) as (keyof typeof PLAIN)[])
    Object.defineProperty(pen, key, {
      get: () => state[key],
      set: (value: never) => {
        state[key] = value;
      },
    });
  return pen as unknown as Pen;
}

function digits(value: number): number {
  return Math.round(value * 100) / 100;
}

/** In the font of picture files. */
function textWidth(text: string, size: number): number {
  const pen = document.createElement("canvas").getContext("2d");
  if (!pen) return text.length * size * 0.6;
  pen.font = `${size}px sans-serif`;
  return pen.measureText(text).width;
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
