/** Texts within a width, where nothing but the text itself wraps or cuts them. */

/** Of the size of a font: how wide its letters are, on average and on the safe side. */
const USUAL_WIDTH = 0.58;

let pen: CanvasRenderingContext2D | null | undefined;
let family = "sans-serif";

/** `text`, or its beginning and end with "…" between, in at most `width` pixels. */
export function fitText(text: string, width: number, size: number, weight = 400): string {
  const most = Math.floor((width / size) * 6);
  const short = text.length > most ? middleCut(text, most) : text;
  for (let length = short.length; length > 3; length--) {
    const candidate = length === short.length ? short : middleCut(short.replace("…", ""), length);
    if (widthOf(candidate, size, weight) <= width) return candidate;
  }
  return short.slice(0, 3);
}

/** `items` side by side in lines of at most `width` pixels; what is too much is cut in the last. */
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
