/** The keys of a focused scatter plot. */
import type { Binding } from "../../base/keys";

interface ScatterActions {
  /** Moves by this many points in descending order of size. */
  readonly move: (by: number) => void;
  readonly choose: () => void;
  readonly zoomBy: (factor: number) => void;
  readonly reset: () => void;
}

export function scatterKeys({ move, choose, zoomBy, reset }: ScatterActions): readonly Binding[] {
  const section = "Roofline";
  return [
    { keys: ["ArrowLeft"], label: "Next larger point", section, run: () => move(-1) },
    { keys: ["ArrowRight"], label: "Next smaller point", section, run: () => move(1) },
    { keys: ["Home"], label: "Largest point", section, run: () => move(-1e9) },
    { keys: ["End"], label: "Smallest point", section, run: () => move(1e9) },
    { keys: ["Enter"], label: "Open the point’s row", section, run: choose },
    { keys: ["+", "="], label: "Zoom in", section, run: () => zoomBy(0.5) },
    { keys: ["-"], label: "Zoom out", section, run: () => zoomBy(2) },
    { keys: ["Escape"], label: "Clear the point, then show all points", section, run: reset },
  ];
}
