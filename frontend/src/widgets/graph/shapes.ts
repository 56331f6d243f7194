/** The shapes that graphs are drawn with, on pages and in picture files. */

/** An SVG element. Colors are custom properties of the page. */
export interface Shape {
  readonly kind: "rect" | "text" | "path";
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly text?: string;
}

export interface GraphBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface NodeBox extends GraphBox {
  readonly node: number;
}

/** A laid-out graph; nodes are in tab order. */
export interface PlacedGraph {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly NodeBox[];
}

type More = Readonly<Record<string, string | number>>;

export function rectShape(x: number, y: number, width: number, height: number, more: More): Shape {
  return { kind: "rect", attributes: { x, y, width, height, ...more } };
}

export function textShape(x: number, y: number, content: string, more: More): Shape {
  return { kind: "text", attributes: { x, y, fill: "var(--text)", ...more }, text: content };
}

/** A frame around a node that is chosen. */
export function chosenShape({ width, height }: Pick<GraphBox, "width" | "height">): Shape {
  return rectShape(-6, -6, width + 12, height + 12, {
    rx: 8,
    fill: "none",
    stroke: "var(--accent)",
    "stroke-width": 2,
  });
}
