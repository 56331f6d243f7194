/** The keys of a graph and of the nodes in it. */
import type { Binding } from "../../base/keys";

interface GraphKeys {
  /** By pixels of the frame. */
  readonly pan: (right: number, down: number) => void;
  readonly zoom: (by: number) => void;
  readonly showAll: () => void;
}

export const ZOOM = 1.25;
const STEP = 60;

export function graphKeys(section: string, { pan, zoom, showAll }: GraphKeys): Binding[] {
  return [
    { keys: ["ArrowLeft"], label: "Pan left", section, run: () => pan(-STEP, 0) },
    { keys: ["ArrowRight"], label: "Pan right", section, run: () => pan(STEP, 0) },
    { keys: ["ArrowUp"], label: "Pan up", section, run: () => pan(0, -STEP) },
    { keys: ["ArrowDown"], label: "Pan down", section, run: () => pan(0, STEP) },
    ...zoomKeys(section, { zoom, showAll }),
  ];
}

export function zoomKeys(section: string, { zoom, showAll }: Omit<GraphKeys, "pan">): Binding[] {
  return [
    { keys: ["+", "="], label: "Zoom in", section, run: () => zoom(ZOOM) },
    { keys: ["-"], label: "Zoom out", section, run: () => zoom(1 / ZOOM) },
    { keys: ["0"], label: "Fit the graph", section, run: showAll },
  ];
}
