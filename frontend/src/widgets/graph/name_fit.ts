/** Fits texts into a width in SVG, which neither wraps nor truncates texts itself. */

/** A safe estimate of the average character width, as a part of the font size. */
const USUAL_WIDTH = 0.58;

let pen: CanvasRenderingContext2D | null | undefined;
let family = "sans-serif";

/** `text` in at most `width` pixels, truncated in the middle with "…" if necessary. */
export function fitText(text: string, width: number, size: number, weight = 400): string {
  const most = Math.floor((width / size) * 6);
  const short = text.length > most ? middleCut(text, most) : text;
  for (let length = short.length; length > 3; length--) {
    const candidate = length === short.length ? short : middleCut(short.replace("…", ""), length);
    if (widthOf(candidate, size, weight) <= width) return candidate;
  }
  return short.slice(0, 3);
}

/** `items` joined into lines of at most `width` pixels; the last line is truncated if necessary. */
export function fitItems(
  items: readonly string[],
  lines: number,
  width: number,
  size: number,
): string[] {
  const out: string[] = [];
  for (const item of items) {
    const longer = out.length === 0 ? item : `${out.at(-1)} · ${item}`;
    if (out.length === 0 || widthOf(longer, size, 400) <= width || out.length === lines)
      out[Math.max(out.length - 1, 0)] = longer;
    else out.push(item);
  }
  return out.map((line) => fitText(line, width, size));
}

function middleCut(text: string, length: number): string {
  const kept = length - 1;
  const head = Math.ceil(kept * 0.6);
  return `${text.slice(0, head)}…${text.slice(text.length - (kept - head))}`;
}

function widthOf(text: string, size: number, weight: number): number {
  if (pen === undefined) {
    pen = document.createElement("canvas").getContext("2d");
    family = getComputedStyle(document.body).fontFamily || family;
  }
  if (!pen) return text.length * size * USUAL_WIDTH;
  pen.font = `${weight} ${size}px ${family}`;
  return pen.measureText(text).width;
}
