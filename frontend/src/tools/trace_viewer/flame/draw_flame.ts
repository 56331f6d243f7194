/** The picture of a flame graph: the rows that are in sight, as the timeline draws its own. */

import type { IcicleLayout } from "../../../widgets/icicle/icicle_layout";
import { type CallTree, callName } from "../call_tree/call_tree";
import { type CallSearch, MATCHES } from "../call_tree/search_calls";
import { LabelPen } from "../canvas/label_pen";
import type { TextFit } from "../canvas/text_fit";
import { asInTiles } from "../data/type_table";
import {
  type ColorIndex,
  colorOfMeaning,
  type EventColors,
  hueOfName,
  hueOfNumber,
  toCss,
} from "../model/event_colors";
import { ROW_HEIGHT } from "../model/lane_layout";
import { shortName } from "../model/short_name";
import { formatPs } from "../model/time";
import type { ColorBy } from "../model/types";
import type { Category } from "../protocol/payload";

export interface FlameInput {
  readonly tree: CallTree;
  readonly layout: IcicleLayout;
  readonly search: CallSearch | null;
  readonly colors: EventColors;
  readonly colorBy: ColorBy;
  readonly categories: readonly Category[];
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
/** What a search has not found. */
const PALE = 0.25;

/** Draws into one canvas; keeps the widths of letters and the short names. */
export class FlamePainter {
  private readonly pen: CanvasRenderingContext2D;
  private readonly fit: TextFit;
  private readonly labels: LabelPen;
  private readonly short = new Map<string, string>();
  private readonly hues = new Map<string, number>();

  constructor(canvas: HTMLCanvasElement) {
    this.labels = new LabelPen(canvas);
    this.pen = this.labels.pen;
    this.fit = this.labels.fit;
  }

  draw(input: FlameInput): void {
    const { width, height, dpr, layout, top, colors } = input;
    const pen = this.labels.begin(Math.round(width * dpr), Math.round(height * dpr), dpr);
    pen.fillStyle = colors.css.background;
    pen.fillRect(0, 0, width, height);
    const first = Math.max(Math.floor(top / ROW_HEIGHT), 0);
    const last = Math.min(Math.ceil((top + height) / ROW_HEIGHT), layout.rowFirst.length - 1);
    for (let depth = first; depth < last; depth++) this.drawRow(input, depth);
    this.outline(input, input.hovered, colors.css.text, 1);
    if (input.selected >= 0) {
      this.outline(input, input.selected, colors.css.background, 4);
      this.outline(input, input.selected, colors.css.accent, 2);
    }
  }

  private drawRow(input: FlameInput, depth: number): void {
    const { pen, fit } = this;
    const { tree, layout, search, colors, width, top, dpr } = input;
    const { row, rowFirst, left } = layout;
    const y = depth * ROW_HEIGHT - top;
    let drawn = 0;
    for (let at = rowFirst[depth]; at < rowFirst[depth + 1]; at++) {
      const node = row[at];
      // A node below a pixel fills it, unless one before has it.
      const from = Math.max(Math.round(left[node] * width * dpr) / dpr, drawn);
      const end = left[node] + layout.width[node];
      if (end * width <= drawn) continue;
      const to = Math.max(Math.round(end * width * dpr) / dpr, from + 1 / dpr);
      drawn = to;
      const isPale = search !== null && (search.marks[node] & MATCHES) === 0;
      const color = this.colorOf(input, node);
      const gap = to - from > GAP_FROM ? 1 : 0;
      pen.globalAlpha = isPale ? PALE : 1;
      pen.fillStyle = color < 0 ? colors.css.panel : toCss(colors.fills[color]);
      pen.fillRect(from, y, to - from - gap, ROW_HEIGHT - 1);
      pen.globalAlpha = 1;
      if (to - from < LABEL_FROM) continue;
      const text = fit.fit(this.labelOf(tree, node), to - from - gap - 2 * INSET + 1);
      if (text === "") continue;
      pen.fillStyle = isPale || color < 0 ? colors.css.text : colors.textColors[color];
      pen.fillText(text, from + INSET, y + (ROW_HEIGHT - 1) / 2 + 0.5);
    }
  }

  private outline(
    { layout, width, top, tree }: FlameInput,
    node: number,
    color: string,
    line: number,
  ) {
    if (node < 0 || !(layout.width[node] > 0)) return;
    const x = Math.round(layout.left[node] * width);
    const size = Math.max(Math.round(layout.width[node] * width) - 1, 1);
    const y = tree.depth[node] * ROW_HEIGHT - top;
    this.pen.strokeStyle = color;
    this.pen.lineWidth = line;
    this.pen.strokeRect(x + 0.5, y + 0.5, Math.max(size - 1, 1), ROW_HEIGHT - 2);
  }

  /** As in the timeline; calls of several steps are one. -1 for what has no colour of its own. */
  private colorOf({ tree, colorBy, categories }: FlameInput, node: number): ColorIndex {
    const name = tree.name[node];
    if (name < 0 || tree.names[name].isTrack) return -1;
    const { text, category } = tree.names[name];
    if (colorBy === "category" || colorBy === "group") {
      const at = categories.findIndex((one) => one.name === category);
      return colorBy === "group"
        ? colorOfMeaning(categories[at]?.meaning ?? "")
        : hueOfNumber(Math.max(at, 0));
    }
    let hue = this.hues.get(text);
    if (hue === undefined) {
      hue = hueOfName(asInTiles(text));
      this.hues.set(text, hue);
    }
    return hue;
  }

  private labelOf(tree: CallTree, node: number): string {
    const name = callName(tree, node);
    if (node === 0) return `${name}: ${formatPs(tree.totalPs[0])}`;
    let label = this.short.get(name);
    if (label === undefined) {
      label = shortName(name);
      this.short.set(name, label);
    }
    return label;
  }
}
