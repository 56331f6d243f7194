/** Chooses a painter: WebGL2 if a graphics card draws, else pixels computed by the page. */
import { CanvasPainter } from "./canvas2d";
import type { Painter } from "./painter";
import { WebglPainter } from "./webgl";

/** As in the address: "renderer=canvas". */
export type PainterChoice = "webgl" | "canvas" | "";

export function rendererOf(text: string | undefined): PainterChoice {
  return text === "webgl" || text === "canvas" ? text : "";
}

/**
 * `repaint` is called when the picture was lost. A canvas keeps the kind of context that it was
 * first given, so another choice needs another canvas.
 */
export function createPainter(
  canvas: HTMLCanvasElement,
  choice: PainterChoice,
  repaint: () => void,
): Painter | null {
  if (choice === "webgl" || (choice === "" && hasGraphicsCard())) {
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, depth: false });
    if (gl) return new WebglPainter(canvas, gl, repaint);
  }
  const pen = canvas.getContext("2d", { alpha: false });
  return pen ? new CanvasPainter(canvas, pen) : null;
}

/** WebGL by the processor, as its drivers call themselves. */
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

let isCard: boolean | undefined;

/**
 * Drawn by the processor, WebGL takes longer than pixels of our own do: 300 ms to 2 ms for 50,000
 * rectangles (SwiftShader, two cores). Asked of a canvas that is thrown away, and asked once.
 */
function hasGraphicsCard(): boolean {
  if (isCard !== undefined) return isCard;
  const gl = document
    .createElement("canvas")
    .getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  // Browsers without the extension name the card in RENDERER.
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl ? String(gl.getParameter(info?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER)) : "";
  isCard = gl !== null && !SOFTWARE.test(name);
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return isCard;
}
