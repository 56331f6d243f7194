/**
 * Paints a scene on the CPU. All rectangles of an even strip have the same height, so only its first
 * line of pixels is painted, and then copied. The time depends on the number of pixels, hardly on
 * the number of events.
 */
import { EDGE, HATCHED, type Scene } from "../scene/scene";
import type { Painter } from "./painter";

/** Narrower rectangles have no dark edge. */
export const EDGE_FROM = 3;
/** The distance between strokes of a hatching, and their width, in device pixels. */
export const HATCH_PERIOD = 6;
export const HATCH_STROKE = 2;

export class CanvasPainter implements Painter {
  readonly kind = "canvas";
  private image: ImageData | null = null;
  private words = new Uint32Array(0);

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly pen: CanvasRenderingContext2D,
  ) {}

  readonly paint = (scene: Scene): void => {
    const { width, height } = scene;
    if (width <= 0 || height <= 0) return;
    if (this.image?.width !== width || this.image.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.image = this.pen.createImageData(width, height);
      this.words = new Uint32Array(this.image.data.buffer);
    }
    paintWords(this.words, scene);
    this.pen.putImageData(this.image, 0, 0);
  };

  readonly dispose = (): void => {
    this.image = null;
    this.words = new Uint32Array(0);
  };
}

/** `words`: [height × width] pixels, 0xAABBGGRR. */
export function paintWords(words: Uint32Array, scene: Scene): void {
  words.fill(scene.background);
  for (let rect = 0; rect < scene.fills; rect++) paintBlock(words, scene, rect);
  for (let strip = 0; strip < scene.stripCount; strip++) {
    const first = scene.stripFirst(strip);
    const last = scene.stripLast(strip);
    if (scene.isEvenStrip(strip)) paintStrip(words, scene, first, last);
    else for (let rect = first; rect < last; rect++) paintBlock(words, scene, rect);
  }
}

function paintStrip(words: Uint32Array, scene: Scene, first: number, last: number): void {
  const { rects, width } = scene;
  const y = rects[first * 4 + 1];
  const bottom = Math.min(y + rects[first * 4 + 3], scene.height);
  if (y < 0 || bottom <= y) return;
  let isHatched = false;
  for (let rect = first; rect < last; rect++) {
    paintLine(words, scene, rect, y);
    isHatched ||= (scene.flags[rect] & HATCHED) !== 0;
  }
  const line = y * width;
  for (let below = y + 1; below < bottom; below++)
    words.copyWithin(below * width, line, line + width);
  if (!isHatched) return;
  for (let rect = first; rect < last; rect++)
    if ((scene.flags[rect] & HATCHED) !== 0) hatch(words, scene, rect, y, bottom);
}

function paintBlock(words: Uint32Array, scene: Scene, rect: number): void {
  const y = Math.max(scene.rects[rect * 4 + 1], 0);
  const bottom = Math.min(scene.rects[rect * 4 + 1] + scene.rects[rect * 4 + 3], scene.height);
  for (let line = y; line < bottom; line++) paintLine(words, scene, rect, line);
}

function paintLine(words: Uint32Array, scene: Scene, rect: number, y: number): void {
  const { rects, width } = scene;
  const left = rects[rect * 4];
  const x = Math.max(left, 0);
  const right = Math.min(left + rects[rect * 4 + 2], width);
  if (right <= x) return;
  const color = scene.colors[rect];
  const line = y * width;
  const alpha = color >>> 24;
  if (alpha < 255) {
    for (let at = line + x; at < line + right; at++) words[at] = blend(color, words[at], alpha);
    return;
  }
  if (right - x < 8) for (let at = line + x; at < line + right; at++) words[at] = color;
  else words.fill(color, line + x, line + right);
  const hasEdge = (scene.flags[rect] & EDGE) !== 0 && rects[rect * 4 + 2] >= EDGE_FROM;
  if (hasEdge && left >= 0) words[line + left] = darker(color);
}

function hatch(words: Uint32Array, scene: Scene, rect: number, y: number, bottom: number): void {
  const { rects, width, background } = scene;
  const x = Math.max(rects[rect * 4], 0);
  const right = Math.min(rects[rect * 4] + rects[rect * 4 + 2], width);
  for (let line = y; line < bottom; line++)
    for (let index = x; index < right; index++)
      if ((index + line) % HATCH_PERIOD < HATCH_STROKE)
        words[line * width + index] = blend(background, words[line * width + index], 128);
}

/** A quarter darker. */
function darker(color: number): number {
  return (color - ((color >>> 2) & 0x3f3f3f)) >>> 0;
}

function blend(top: number, bottom: number, alpha: number): number {
  const rest = 255 - alpha;
  const mixed = (shift: number) =>
    Math.round((((top >>> shift) & 255) * alpha + ((bottom >>> shift) & 255) * rest) / 255) <<
    shift;
  return (0xff000000 | mixed(16) | mixed(8) | mixed(0)) >>> 0;
}
