/** The picture of an icicle of ops: each as wide as its time, with a bar for what it uses of a peak. */
import type { IcicleLayout } from "../../widgets/icicle/icicle_layout";
import { LabelPen } from "../trace_viewer/canvas/label_pen";
import type { TextFit } from "../trace_viewer/canvas/text_fit";
import { type EventColors, GRAY, hueOfName, toCss } from "../trace_viewer/model/event_colors";
import { formatPicoseconds } from "./tree/node_facts";
import { type OpTree, usedShare } from "./tree/op_tree";

export const ICICLE_ROW = 24;
const INSET = 4;
const LABEL_FROM = 24;
/** Narrower nodes leave no gap behind them. */
const GAP_FROM = 3;
const BAR = 4;

export interface IcicleInput {
  readonly tree: OpTree;
  readonly layout: IcicleLayout;
  readonly colors: EventColors;
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly dpr: number;
  /** -1 for none. */
  readonly selected: number;
  readonly hovered: number;
}

/** Draws into one canvas; keeps the widths of letters. */
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
    const { width, height, dpr, layout, colors } = input;
    const pen = this.labels.begin(Math.round(width * dpr), Math.round(height * dpr), dpr);
    pen.fillStyle = colors.css.background;
    pen.fillRect(0, 0, width, height);
    for (let depth = 0; depth + 1 < layout.rowFirst.length; depth++) this.drawRow(input, depth);
    this.outline(input, input.hovered, colors.css.text, 1);
    if (input.selected >= 0) {
      this.outline(input, input.selected, colors.css.background, 4);
      this.outline(input, input.selected, colors.css.accent, 2);
    }
  }

  private drawRow(input: IcicleInput, depth: number): void {
    const { pen, fit } = this;
    const { tree, layout, colors, width, dpr } = input;
    const { row, rowFirst, left } = layout;
    const y = depth * ICICLE_ROW;
    let drawn = 0;
    for (let at = rowFirst[depth]; at < rowFirst[depth + 1]; at++) {
      const node = row[at];
      // A node below a pixel fills it, unless one before has it.
      const from = Math.max(Math.round(left[node] * width * dpr) / dpr, drawn);
      const end = left[node] + layout.width[node];
      if (end * width <= drawn) continue;
      const to = Math.max(Math.round(end * width * dpr) / dpr, from + 1 / dpr);
      drawn = to;
      const gap = to - from > GAP_FROM ? 1 : 0;
      const color = colorOf(tree, node);
      pen.fillStyle = color < 0 ? colors.css.panel : toCss(colors.fills[color]);
      pen.fillRect(from, y, to - from - gap, ICICLE_ROW - 1);
      this.drawBar(input, node, from, y, to - from - gap);
      if (to - from < LABEL_FROM) continue;
      const label =
        node === 0 ? `${tree.label[0]}: ${formatPicoseconds(tree.weightPs[0])}` : tree.label[node];
      const text = fit.fit(label, to - from - gap - 2 * INSET + 1);
      if (text === "") continue;
      pen.fillStyle = color < 0 ? colors.css.text : colors.textColors[color];
      pen.fillText(text, from + INSET, y + (ICICLE_ROW - 1 - BAR) / 2 + 0.5);
    }
  }

  /** At the foot of ops and of what they are grouped in; none where the share is not known. */
  private drawBar(input: IcicleInput, node: number, x: number, y: number, width: number): void {
    const used = usedShare(input.tree, node);
    if (Number.isNaN(used) || width < GAP_FROM) return;
    const { pen } = this;
    const top = y + ICICLE_ROW - 1 - BAR;
    pen.fillStyle = input.colors.css.background;
    pen.globalAlpha = 0.6;
    pen.fillRect(x, top, width, BAR);
    pen.globalAlpha = 1;
    pen.fillStyle = input.colors.css.text;
    pen.fillRect(x, top, width * Math.min(used, 1), BAR);
  }

  private outline({ layout, width, tree }: IcicleInput, node: number, color: string, line: number) {
    if (node < 0 || !(layout.width[node] > 0)) return;
    const x = Math.round(layout.left[node] * width);
    const size = Math.max(Math.round(layout.width[node] * width) - 1, 1);
    this.pen.strokeStyle = color;
    this.pen.lineWidth = line;
    const y = tree.depth[node] * ICICLE_ROW;
    this.pen.strokeRect(x + 0.5, y + 0.5, Math.max(size - 1, 1), ICICLE_ROW - 2);
  }
}

/** By name, as in the timeline; -1 for the root and what is not loaded. */
function colorOf({ kind, label }: OpTree, node: number): number {
  if (kind[node] === "idle") return GRAY;
  if (kind[node] === "root" || kind[node] === "rest") return -1;
  return hueOfName(label[node]);
}
