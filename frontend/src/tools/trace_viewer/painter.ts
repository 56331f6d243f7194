/** What puts a scene on a canvas: WebGL2 where a graphics card draws, else pixels of our own. */
import { CanvasPainter } from "./canvas2d";
import type { Scene } from "./scene";
import { WebglPainter } from "./webgl";

export interface Painter {
  readonly kind: "webgl" | "canvas";
  readonly paint: (scene: Scene) => void;
  readonly dispose: () => void;
}

/** As in the address: "renderer=canvas". */
export type PainterChoice = "webgl" | "canvas" | "";

/**
 * `repaint` is called when the picture was lost. A canvas keeps the kind of context that it was
 * first given, so another choice needs another canvas.
 */
export function createPainter(
  canvas: HTMLCanvasElement,
  choice: PainterChoice,
  repaint: () => void,
): Painter | null {
  if (choice !== "canvas") {
    // Drawn by the processor WebGL takes longer than pixels of our own do: 300 ms to 2 ms for
    // 50,000 rectangles (SwiftShader, two cores).
    const gl = canvas.getContext("webgl2", {
      alpha: false,
      antialias: false,
      depth: false,
      failIfMajorPerformanceCaveat: choice !== "webgl",
    });
    if (gl) return new WebglPainter(canvas, gl, repaint);
  }
  const pen = canvas.getContext("2d", { alpha: false });
  return pen ? new CanvasPainter(canvas, pen) : null;
}
