/** A canvas context for shapes with labels, and a fitter for texts in its font. */
import { TextFit } from "./text_fit";

const LABEL_SIZE = 11;

export class LabelPen {
  readonly pen: CanvasRenderingContext2D;
  readonly fit: TextFit;
  private readonly font: string;

  constructor(private readonly canvas: HTMLCanvasElement) {
    const pen = canvas.getContext("2d");
    if (!pen) throw new Error("the browser has no 2D canvas");
    this.pen = pen;
    this.font = `${LABEL_SIZE}px ${getComputedStyle(canvas).fontFamily || "sans-serif"}`;
    pen.font = this.font;
    this.fit = new TextFit((text) => pen.measureText(text).width);
  }

  /** Clears the canvas at this size in device pixels; coordinates are then CSS pixels. */
  begin(width: number, height: number, dpr: number): CanvasRenderingContext2D {
    const { pen, canvas } = this;
    if (canvas.width !== width || canvas.height !== height)
      Object.assign(canvas, { width, height });
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.setTransform(dpr, 0, 0, dpr, 0, 0);
    pen.font = this.font;
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    return pen;
  }
}
