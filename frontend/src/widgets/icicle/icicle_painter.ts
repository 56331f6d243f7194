/** Draws the visible rows of an icicle chart, with labels where they fit. */
import { type ColorIndex, type EventColors, toCss } from "../canvas/event_colors";
import { LabelPen } from "../canvas/label_pen";
import type { TextFit } from "../canvas/text_fit";
import type { IcicleLayout } from "./icicle_layout";
import type { WeightedTree } from "./weighted_tree";

/** The appearance of nodes. */
export interface IcicleStyle {
  /** CSS pixels. */
  readonly rowHeight: number;
  /** -1 for nodes without a color of their own. */
  readonly colorOf: (node: number) => ColorIndex;
  readonly labelOf: (node: number) => string;
  /** Whether a search does not match the node. */
  readonly isPale?: (node: number) => boolean;
  /** The length of the bar at the bottom of the node, as a part of its width; NaN for none. */
  readonly barOf?: (node: number) => number;
}

interface IcicleInput {
  readonly tree: WeightedTree;
  readonly layout: IcicleLayout;
  readonly style: IcicleStyle;
  readonly colors: EventColors;
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly top: number;
  readonly dpr: number;
  /** -1 for none. */
  readonly selected: number;
  readonly hovered: number;
}

const INSET = 4;
const LABEL_FROM = 24;
/** Narrower nodes leave no gap behind them. */
const GAP_FROM = 3;
const PALE = 0.25;
const BAR = 4;

/** Draws into one canvas, and caches character widths. */
export class IciclePainter {
  private readonly labels: LabelPen;
  private readonly pen: CanvasRenderingContext2D;
  private readonly fit: TextFit;

  constructor(canvas: HTMLCanvasElement) {
    this.labels = new LabelPen(canvas);
    this.pen = this.labels.pen;
    this.fit = this.labels.fit;
  }

  draw(input: IcicleInput): void {
    const { width, height, dpr, layout, top, colors } = input;
    const { rowHeight } = input.style;
    const pen = this.labels.begin(Math.round(width * dpr), Math.round(height * dpr), dpr);
    pen.fillStyle = colors.css.background;
    pen.fillRect(0, 0, width, height);
    const first = Math.max(Math.floor(top / rowHeight), 0);
    const last = Math.min(Math.ceil((top + height) / rowHeight), layout.rowFirst.length - 1);
    for (let depth = first; depth < last; depth++) this.drawRow(input, depth);
    this.outline(input, input.hovered, colors.css.text, 1);
    if (input.selected >= 0) {
      this.outline(input, input.selected, colors.css.background, 4);
      this.outline(input, input.selected, colors.css.accent, 2);
    }
  }

  private drawRow(input: IcicleInput, depth: number): void {
    const { layout, style, width, top, dpr } = input;
    const { row, rowFirst, left } = layout;
    const y = depth * style.rowHeight - top;
    let drawn = 0;
    for (let index = rowFirst[depth]; index < rowFirst[depth + 1]; index++) {
      const node = row[index];
      // A node narrower than a pixel fills that pixel, unless an earlier node has done so.
      const from = Math.max(Math.round(left[node] * width * dpr) / dpr, drawn);
      const end = left[node] + layout.width[node];
      if (end * width <= drawn) continue;
      const to = Math.max(Math.round(end * width * dpr) / dpr, from + 1 / dpr);
      drawn = to;
      this.drawNode(input, node, from, y, to - from - (to - from > GAP_FROM ? 1 : 0));
    }
  }

  private drawNode(input: IcicleInput, node: number, x: number, y: number, width: number): void {
    const { pen } = this;
    const { style, colors } = input;
    const color = style.colorOf(node);
    const isPale = style.isPale?.(node) ?? false;
    pen.globalAlpha = isPale ? PALE : 1;
    pen.fillStyle = color < 0 ? colors.css.panel : toCss(colors.fills[color]);
    pen.fillRect(x, y, width, style.rowHeight - 1);
    pen.globalAlpha = 1;
    this.drawBar(input, node, x, y, width);
    if (width < LABEL_FROM) return;
    const text = this.fit.fit(style.labelOf(node), width - 2 * INSET + 1);
    if (text === "") return;
    const middle = (style.rowHeight - 1 - (style.barOf ? BAR : 0)) / 2;
    pen.fillStyle = isPale || color < 0 ? colors.css.text : colors.textColors[color];
    pen.fillText(text, x + INSET, y + middle + 0.5);
  }

  private drawBar(input: IcicleInput, node: number, x: number, y: number, width: number): void {
    const { style, colors } = input;
    const part = style.barOf?.(node) ?? Number.NaN;
    if (Number.isNaN(part) || width < GAP_FROM) return;
    const { pen } = this;
    const top = y + style.rowHeight - 1 - BAR;
    pen.fillStyle = colors.css.background;
    pen.globalAlpha = 0.6;
    pen.fillRect(x, top, width, BAR);
    pen.globalAlpha = 1;
    pen.fillStyle = colors.css.text;
    pen.fillRect(x, top, width * Math.min(part, 1), BAR);
  }

  private outline(input: IcicleInput, node: number, color: string, line: number): void {
    const { layout, width, top, tree, style } = input;
    if (node < 0 || !(layout.width[node] > 0)) return;
    const x = Math.round(layout.left[node] * width);
    const size = Math.max(Math.round(layout.width[node] * width) - 1, 1);
    const y = tree.depth[node] * style.rowHeight - top;
    this.pen.strokeStyle = color;
    this.pen.lineWidth = line;
    this.pen.strokeRect(x + 0.5, y + 0.5, Math.max(size - 1, 1), style.rowHeight - 2);
  }
}
