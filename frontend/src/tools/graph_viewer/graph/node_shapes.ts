/** The shapes that an instruction is drawn with. */
import { formatTime } from "../../../base/format";
import { fitText } from "../../../widgets/graph/name_fit";
import { rectShape, type Shape, textShape } from "../../../widgets/graph/shapes";
import type { InstructionNode } from "../payload";
import { NODE } from "./program_layout";

export type ColorMode = "kind" | "time";

/** Groups of opcodes in the order of the legend: colors and labels. */
export const GROUPS: Readonly<Record<string, readonly [color: string, label: string]>> = {
  product: ["var(--c-compute16)", "Matrix product, convolution"],
  fusion: ["var(--c-compute)", "Fusion"],
  elementwise: ["var(--c-compute32)", "Elementwise"],
  reduction: ["var(--c-compile)", "Reduction, gather, scatter"],
  movement: ["var(--c-copy)", "Copy, reshape, slice"],
  async: ["var(--c-transfer)", "Asynchronous copy"],
  collective: ["var(--c-collective)", "Collective, transfer"],
  call: ["var(--c-host)", "Call, loop, custom call"],
  parameter: ["var(--c-output)", "Parameter"],
};

const INSET = 12;
const STRIPE = 5;
const LINES = [18, 35, 51, 67];
/** Opacity of a node's background: colored by kind, and the maximum if colored by time. */
const TINT = 0.16;
const HEAT = 0.55;

/** `most` is the longest self time in the graph. */
export function nodeShapes(
  node: InstructionNode,
  mode: ColorMode,
  most: number,
  isCenter: boolean,
): Shape[] {
  const [color] = GROUPS[node.group] ?? GROUPS.elementwise;
  const time = Number.isNaN(node.self) ? "" : formatTime(node.self);
  const share = most > 0 && node.self > 0 ? Math.min(node.self / most, 1) : 0;
  const left = [
    node.leftOperands > 0 ? `↑${node.leftOperands}` : "",
    node.leftUsers > 0 ? `↓${node.leftUsers}` : "",
  ].join(" ");
  const wide = NODE.width - 2 * INSET - (time === "" ? 0 : 64);
  const facts = node.details[0] ?? node.constants.map(({ text }) => text).join(", ");
  const muted = { "font-size": 11, fill: "var(--muted)" };
  return [
    rectShape(0, 0, NODE.width, NODE.height, { rx: 4, fill: "var(--background)" }),
    rectShape(0, 0, NODE.width, NODE.height, {
      rx: 4,
      fill: mode === "time" ? "var(--c-input)" : color,
      "fill-opacity": mode === "time" ? Number((share * HEAT).toFixed(3)) : TINT,
    }),
    rectShape(0, 0, STRIPE, NODE.height, { rx: 2, fill: color }),
    rectShape(0, 0, NODE.width, NODE.height, {
      rx: 4,
      fill: "none",
      class: "outline",
      stroke: isCenter ? "var(--text)" : "var(--control-border)",
      "stroke-width": isCenter ? 2.5 : 1,
    }),
    textShape(INSET, LINES[0], fitText(node.opcode, wide - (node.canOpen ? 16 : 0), 12.5, 600), {
      "font-size": 12.5,
      "font-weight": 600,
    }),
    ...(node.canOpen
      ? [
          textShape(NODE.width - INSET - (time === "" ? 0 : 62), LINES[0], "⊞", {
            "font-size": 13,
            "text-anchor": "end",
            class: "graph-open",
          }),
        ]
      : []),
    textShape(NODE.width - 8, LINES[0], time, { "font-size": 11, "text-anchor": "end" }),
    textShape(INSET, LINES[1], fitText(node.name, NODE.width - 2 * INSET, 11), {
      "font-size": 11,
    }),
    textShape(INSET, LINES[2], fitText(node.shape, NODE.width - 2 * INSET, 11), muted),
    textShape(
      INSET,
      LINES[3],
      fitText(facts, NODE.width - 2 * INSET - (left.trim() === "" ? 0 : 52), 11),
      muted,
    ),
    textShape(NODE.width - 8, LINES[3], left.trim(), { "font-size": 11, "text-anchor": "end" }),
  ];
}
