/** Chooses a painter: WebGL2 if there is a graphics card, else pixels computed by the page. */
import { CanvasPainter } from "./canvas2d";
import type { Painter } from "./painter";
import { WebglPainter } from "./webgl";

/** The choice in the address: "renderer=canvas". */
export type PainterChoice = "webgl" | "canvas" | "";

export function rendererOf(text: string | undefined): PainterChoice {
  return text === "webgl" || text === "canvas" ? text : "";
}

/**
 * `repaint` is called when the picture was lost. A canvas keeps its first kind of context, so
 * another choice needs another canvas.
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

/** Names of software renderers for WebGL. */
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

let isCard: boolean | undefined;

/**
 * Software WebGL is slower than our own pixels: 300 ms instead of 2 ms for 50,000 rectangles
 * (SwiftShader, two cores). Detected once, on a temporary canvas.
 */
function hasGraphicsCard(): boolean {
  if (isCard !== undefined) return isCard;
  const gl = document
    .createElement("canvas")
    .getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  // Browsers without the extension report the card in RENDERER.
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl ? String(gl.getParameter(info?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER)) : "";
  isCard = gl !== null && !SOFTWARE.test(name);
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return isCard;
}
