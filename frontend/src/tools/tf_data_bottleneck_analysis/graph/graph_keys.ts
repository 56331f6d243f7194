/** The keys of the graph and of the iterators in it. */
import type { Binding } from "../../../base/keys";

interface GraphKeys {
  /** By pixels of the frame. */
  readonly pan: (right: number, down: number) => void;
  readonly zoom: (by: number) => void;
  readonly showAll: () => void;
}

interface NodeKeys {
  readonly upstream: () => void;
  readonly downstream: () => void;
  readonly above: () => void;
  readonly below: () => void;
  readonly choose: () => void;
  readonly leave: () => void;
}

export const ZOOM = 1.25;
const STEP = 60;

export function graphKeys({ pan, zoom, showAll }: GraphKeys): Binding[] {
  const section = "Input pipeline graph";
  return [
    { keys: ["ArrowLeft"], label: "To the left", section, run: () => pan(-STEP, 0) },
    { keys: ["ArrowRight"], label: "To the right", section, run: () => pan(STEP, 0) },
    { keys: ["ArrowUp"], label: "Up", section, run: () => pan(0, -STEP) },
    { keys: ["ArrowDown"], label: "Down", section, run: () => pan(0, STEP) },
    ...zoomKeys({ zoom, showAll }),
  ];
}

export function zoomKeys({ zoom, showAll }: Omit<GraphKeys, "pan">): Binding[] {
  const section = "Input pipeline graph";
  return [
    { keys: ["+", "="], label: "Zoom in", section, run: () => zoom(ZOOM) },
    { keys: ["-"], label: "Zoom out", section, run: () => zoom(1 / ZOOM) },
    { keys: ["0"], label: "Fit the graph", section, run: showAll },
  ];
}

export function nodeKeys(keys: NodeKeys): Binding[] {
  const section = "Iterator in the graph";
  return [
    { keys: ["ArrowLeft"], label: "An iterator that it calls", section, run: keys.upstream },
    { keys: ["ArrowRight"], label: "The iterator that calls it", section, run: keys.downstream },
    { keys: ["ArrowUp"], label: "The iterator above", section, run: keys.above },
    { keys: ["ArrowDown"], label: "The iterator below", section, run: keys.below },
    { keys: ["Enter", " "], label: "Show its details", section, run: keys.choose },
    { keys: ["Escape"], label: "Close the details", section, run: keys.leave },
  ];
}
