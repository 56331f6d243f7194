/** The part of the graph that is in view: the point at the frame's top left corner, and the scale. */
import type { GraphBox } from "../shapes";

export interface Look {
  /** In the graph's own pixels. */
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

const LEAST = 0.05;
const MOST = 4;
/** The smallest scale at which the numbers of a node are easy to read, and at which they can be. */
const READABLE = 0.8;
const LEGIBLE = 0.65;
/** The part of the frame by which a graph may be moved out of it. */
const BEYOND = 0.8;
const MARGIN = 16;

function clampScale(scale: number): number {
  return Math.max(LEAST, Math.min(scale, MOST));
}

/** Shows the whole graph, centered. */
export function fitGraph(graph: Size, frame: Size, most = 1): Look {
  const scale = clampScale(
    Math.min(
      frame.width / Math.max(graph.width, 1),
      frame.height / Math.max(graph.height, 1),
      most,
    ),
  );
  return {
    x: (graph.width - frame.width / scale) / 2,
    y: (graph.height - frame.height / scale) / 2,
    scale,
  };
}

/** The number of nodes that are at least partly in view. */
export function boxesIn(
  { nodes }: { readonly nodes: readonly GraphBox[] },
  look: Look,
  frame: Size,
): number {
  const [right, bottom] = [look.x + frame.width / look.scale, look.y + frame.height / look.scale];
  return nodes.filter(
    ({ x, y, width, height }) =>
      x < right && y < bottom && x + width > look.x && y + height > look.y,
  ).length;
}

/** The whole graph if that is legible, else the surroundings of `box`, easy to read. */
export function firstLook(graph: Size, frame: Size, box: GraphBox | undefined): Look {
  const whole = fitGraph(graph, frame);
  if (whole.scale >= LEGIBLE || !box) return whole;
  const scale = READABLE;
  const along = (middle: number, length: number, room: number) =>
    length <= room ? (length - room) / 2 : Math.max(0, Math.min(middle - room / 2, length - room));
  return {
    x: along(box.x + box.width / 2, graph.width, frame.width / scale),
    y: along(box.y + box.height / 2, graph.height, frame.height / scale),
    scale,
  };
}

/** Zooms about a point of the frame. */
export function zoomViewport(look: Look, by: number, x: number, y: number): Look {
  const scale = clampScale(look.scale * by);
  return { x: look.x + x / look.scale - x / scale, y: look.y + y / look.scale - y / scale, scale };
}

/** Pans by pixels of the frame; some of the graph stays in view. */
export function pan(look: Look, right: number, down: number, graph: Size, frame: Size): Look {
  const bound = (at: number, length: number, room: number) =>
    Math.max(-room * BEYOND, Math.min(at, length - room * (1 - BEYOND)));
  return {
    ...look,
    x: bound(look.x + right / look.scale, graph.width, frame.width / look.scale),
    y: bound(look.y + down / look.scale, graph.height, frame.height / look.scale),
  };
}

/** Pans no further than necessary to bring `box` into view. */
export function reveal(look: Look, box: GraphBox, frame: Size): Look {
  const along = (at: number, begin: number, length: number, room: number) => {
    const margin = MARGIN / look.scale;
    if (begin < at + margin) return begin - margin;
    if (begin + length > at + room - margin) {
      return Math.min(begin - margin, begin + length - room + margin);
    }
    return at;
  };
  return {
    ...look,
    x: along(look.x, box.x, box.width, frame.width / look.scale),
    y: along(look.y, box.y, box.height, frame.height / look.scale),
  };
}

/** As in the address: "12.5,-3,0.8". */
export function formatLook({ x, y, scale }: Look): string {
  return [x.toFixed(1), y.toFixed(1), scale.toFixed(3)].map(Number).join(",");
}

export function parseLook(text: string | undefined): Look | null {
  const numbers = (text ?? "").split(",").map((part) => (part === "" ? Number.NaN : Number(part)));
  const [x, y, scale] = numbers;
  const isWhole = numbers.length === 3 && numbers.every((number) => Math.abs(number) < 1e7);
  return isWhole && scale > 0 ? { x, y, scale: clampScale(scale) } : null;
}
