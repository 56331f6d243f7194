/** The drawing interface of charts: backed by a canvas on the page, or by an SVG file. */

/** The part of a canvas's context that charts use. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | "fillStyle"
  | "strokeStyle"
  | "lineWidth"
  | "lineJoin"
  | "globalAlpha"
  | "font"
  | "textAlign"
  | "textBaseline"
  | "imageSmoothingEnabled"
  | "setLineDash"
  | "save"
  | "restore"
  | "beginPath"
  | "moveTo"
  | "lineTo"
  | "closePath"
  | "rect"
  | "fill"
  | "stroke"
  | "fillRect"
  | "strokeRect"
  | "fillText"
> & {
  arc(x: number, y: number, radius: number, from: number, to: number): void;
  clip(): void;
  drawImage(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void;
  measureText(text: string): { readonly width: number };
};

/** Resizes a canvas, in CSS pixels, and returns its pen; null if the browser has no 2D context. */
export function canvasPen(canvas: HTMLCanvasElement, width: number, height: number): Pen | null {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen?.scale(ratio, ratio);
  return pen;
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Draws stripes, `pitch` apart, which mark what was not fully recorded. */
export function hatch(pen: Pen, color: string, box: Box, pitch = 6): void {
  const { left, top, width, height } = box;
  pen.save();
  pen.beginPath();
  pen.rect(left, top, width, height);
  pen.clip();
  pen.strokeStyle = color;
  pen.lineWidth = pitch / 3;
  pen.beginPath();
  // Along a stripe x + y is constant, so that the stripes of adjacent boxes line up.
  const last = left + width + top + height + pitch;
  for (let sum = Math.floor((left + top) / pitch) * pitch; sum < last; sum += pitch) {
    pen.moveTo(left - 1, sum - left + 1);
    pen.lineTo(left + width + 1, sum - left - width - 1);
  }
  pen.stroke();
  pen.restore();
}
