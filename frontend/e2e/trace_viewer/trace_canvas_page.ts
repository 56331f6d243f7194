/** The canvas of the trace viewer in a browser: its lanes, its colors, and what its address says. */
import type { Page } from "playwright-core";
import { hueColors, hueOfName } from "../../src/widgets/canvas/event_colors";
import { type OpenOptions, traceRuns, type View } from "./trace_runs";

export const TIMELINE = "#trace-timeline";
/** CSS pixels of the time axis and of one row. */
export const AXIS = 40;
export const ROW = 18;

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** [from, to) in µs. */
export type Span = readonly [from: number, to: number];
/** The whole drawn run. */
export const ALL: Span = [0, 200];
/** A view without the steps that are worked out of the events. */
export const MAIN = { hide: "d0@host0" };

/** A page that shows [from, to) µs of a run. */
export class TracePage {
  /** The canvas, once all around it has its place. */
  canvas: Box = { x: 0, y: 0, width: 0, height: 0 };

  constructor(
    readonly page: Page,
    private readonly shown: Span,
  ) {}

  get parameters(): URLSearchParams {
    return new URLSearchParams(new URL(this.page.url()).hash.slice(1));
  }

  /** µs of the view, by the address; as it was opened while the address says nothing. */
  get view(): Span {
    const { parameters } = this;
    const [from, to] = ["from_ms", "to_ms"].map((name) => parameters.get(name));
    return from === null || to === null ? this.shown : [Number(from) * 1e3, Number(to) * 1e3];
  }

  /** Something is drawn, and what had to be worked out is there, which moves lanes down. */
  async ready(): Promise<void> {
    const { page, parameters } = this;
    const status = page.locator(".trace-status", { hasText: /[1-9]\d* drawn/ });
    await status.waitFor();
    if (parameters.get("run") === "drawn") await page.locator('[data-lane="d5@host0"]').waitFor();
    await isWhole(page);
    this.canvas = (await page.locator(TIMELINE).boundingBox())!;
  }

  /** µs of the view, by the line at the bottom: also while it moves. */
  async across(): Promise<number> {
    const text = await this.page.locator(".trace-status").textContent();
    const [, number, unit] = /([\d.,]+) (ns|µs|ms|s) across/.exec(text ?? "") ?? [];
    const size = { ns: 1e-3, µs: 1, ms: 1e3, s: 1e6 }[unit ?? ""] ?? Number.NaN;
    return Number(number?.replaceAll(",", "")) * size;
  }

  get range(): Span | null {
    const [from, to] = (this.parameters.get("range") ?? "").split("..");
    return to === undefined ? null : [Number(from) * 1e3, Number(to) * 1e3];
  }

  get perPixel(): number {
    return (this.view[1] - this.view[0]) / this.canvas.width;
  }

  /** Window pixels of an instant, and back. */
  xOf(us: number): number {
    return this.canvas.x + (us - this.view[0]) / this.perPixel;
  }

  usAt(x: number): number {
    return this.view[0] + (x - this.canvas.x) * this.perPixel;
  }

  /** The middle of a row of a lane, in window pixels. */
  async yOf(lane: string, depth = 0): Promise<number> {
    return (await this.laneBox(lane)).y + (depth + 0.5) * ROW;
  }

  async laneBox(lane: string): Promise<Box> {
    const box = await this.page.locator(`[data-lane="${lane}@host0"]`).boundingBox();
    if (!box) throw new Error(`no lane ${lane}`);
    return box;
  }

  /** The inside of a part of a row: two pixels from every edge. */
  async inside(lane: string, depth: number, [from, to]: Span): Promise<Box> {
    const { y } = await this.laneBox(lane);
    const x = Math.round(this.xOf(from)) + 2;
    return { x, y: y + depth * ROW + 3, width: Math.round(this.xOf(to)) - 2 - x, height: ROW - 5 };
  }

  /** What is announced as selected. */
  get selected(): Promise<string | null> {
    return this.page.locator(`${TIMELINE} > .unseen`).textContent();
  }

  /** `colorsNow` of all that is in view. */
  async colors(...boxes: Box[]): Promise<Map<string, number>[]> {
    await isWhole(this.page);
    return this.colorsNow(...boxes);
  }

  /** "186,45,62" of every pixel of these parts of the window, by how many there are. */
  async colorsNow(...boxes: Box[]): Promise<Map<string, number>[]> {
    const image = (await this.page.screenshot()).toString("base64");
    const counts = await this.page.evaluate(countColors, { image, boxes });
    return counts.map((pairs) => new Map(pairs));
  }

  async drag(from: readonly [number, number], to: readonly [number, number], isHeld = false) {
    const { mouse } = this.page;
    await mouse.move(...from);
    await mouse.down();
    await mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2);
    await mouse.move(...to);
    if (!isHeld) await mouse.up();
  }

  async wheel(x: number, y: number, down: number, key?: "Control" | "Shift"): Promise<void> {
    const { mouse, keyboard } = this.page;
    await mouse.move(x, y);
    if (key) await keyboard.down(key);
    await mouse.wheel(0, down);
    if (key) await keyboard.up(key);
  }
}

/** For the tests of a file: `show` opens [from, to) µs of a run, drawn. */
export function canvasOfRuns() {
  const runs = traceRuns();
  return async (run: string, span: Span, view: View = {}, options: OpenOptions = {}) => {
    const [from, to] = span.map((us) => String(us / 1e3));
    const address = runs.address(run, { from_ms: from, to_ms: to, ...view });
    const { page } = await runs.openAt(address, options);
    const trace = new TracePage(page, span);
    await trace.ready();
    return trace;
  };
}

/** The color of events of a name, in the light theme. */
export function colorOfName(name: string): string {
  return hueColors(false)[hueOfName(name)].join();
}

/** All that is in view has been drawn, of the lanes as they are. */
async function isWhole(page: Page): Promise<void> {
  const frames = () =>
    new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await page.evaluate(frames);
  await page.locator(`${TIMELINE}:not([aria-busy="true"])`).waitFor();
  await page.evaluate(frames);
}

export function mostOf(colors: ReadonlyMap<string, number>): string {
  return [...colors].reduce((most, one) => (one[1] > most[1] ? one : most), ["", 0])[0];
}

export function shareOf(colors: ReadonlyMap<string, number>, color: string): number {
  const all = [...colors.values()].reduce((sum, count) => sum + count, 0);
  return (colors.get(color) ?? 0) / all;
}

/** Runs in the page. */
async function countColors({ image, boxes }: { image: string; boxes: Box[] }) {
  const bytes = Uint8Array.from(atob(image), (letter) => letter.charCodeAt(0));
  const picture = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const pen = new OffscreenCanvas(picture.width, picture.height).getContext("2d")!;
  pen.drawImage(picture, 0, 0);
  return boxes.map(({ x, y, width, height }) => {
    // A number for every pixel, from the last byte to the first: opacity, blue, green, red.
    const numbers = new Uint32Array(pen.getImageData(x, y, width, height).data.buffer);
    const found = new Map<number, number>();
    for (const number of numbers) found.set(number, (found.get(number) ?? 0) + 1);
    return [...found].map(
      ([number, count]) =>
        [[number & 255, (number >> 8) & 255, (number >> 16) & 255].join(), count] as const,
    );
  });
}
