/** The shapes of a node, on the page and in picture files. */
import {
  formatCount,
  formatRatio,
  formatTick,
  formatTime,
  NOT_MEASURED,
  type Scale,
} from "../../../base/format";
import { microseconds, ratio } from "../../../base/units";
import { fitItems, fitText } from "../../../widgets/graph/name_fit";
import { rectShape, type Shape, textShape } from "../../../widgets/graph/shapes";
import type { IteratorNode, Parameter } from "../payload";
import { NODE, STUB } from "./graph_layout";
import { type GraphTree, heldBy, heldShare, type Stub } from "./graph_tree";

export const OUTLINES: Readonly<
  Record<IteratorNode["kind"], Readonly<Record<string, string | number>>>
> = {
  bottleneck: { stroke: "var(--danger)", "stroke-width": 3.5 },
  critical: { stroke: "var(--text)", "stroke-width": 2.5 },
  other: { stroke: "var(--control-border)", "stroke-width": 1, "stroke-dasharray": "5 4" },
};
export const EDGES = {
  critical: { stroke: "var(--text)", "stroke-width": 2 },
  other: { stroke: "var(--control-border)", "stroke-width": 1, "stroke-dasharray": "5 4" },
  ofMany: { "stroke-width": 0.75, "stroke-opacity": 0.6 },
};

/** µs, so that start times are not shown in ns. */
export const LEAST_START = 10;

const INSET = 10;
const PARAMETER_LINES = [36, 50];
const FIRST_LINE = 68;
const LINE = 15;
const BAR = { y: 125, width: 98, height: 7 };
/** Background opacity of a node that takes the whole execution. */
const HEAT = 0.3;

export function nodeShapes(tree: GraphTree, node: IteratorNode, startScale: Scale): Shape[] {
  const held = heldBy(node);
  const share = heldShare(tree, node);
  // If functions wait for a pool, the time that a node holds up the execution is not its self time.
  const isShared = Math.abs(held - node.self) > 0.05 * Math.max(held, node.self);
  const filled = Math.max(0, Math.min(share || 0, 1));
  const lines: readonly (readonly [string, string])[] = [
    ["Start time", formatStart(node.start, startScale)],
    ["Total duration", formatTime(node.total)],
    ["Self time", formatTime(node.self)],
    isShared
      ? ["Holds up", formatTime(held)]
      : ["Calls", Number.isNaN(node.calls) ? NOT_MEASURED : formatCount(node.calls)],
  ];
  return [
    rectShape(0, 0, NODE.width, NODE.height, { rx: 4, fill: "var(--background)" }),
    rectShape(0, 0, NODE.width, NODE.height, {
      rx: 4,
      fill: "var(--c-input)",
      "fill-opacity": Number((filled * HEAT).toFixed(3)),
    }),
    rectShape(0, 0, NODE.width, NODE.height, {
      rx: 4,
      fill: "none",
      class: "outline",
      ...OUTLINES[node.kind],
    }),
    textShape(INSET, 20, fitText(node.type, NODE.width - 2 * INSET, 13, 600), {
      "font-size": 13,
      "font-weight": 600,
    }),
    ...fitItems(
      [
        ...(node.iterators > 1 ? [`${formatCount(node.iterators)} copies`] : []),
        ...shortParameters(node.parameters),
      ],
      PARAMETER_LINES.length,
      NODE.width - 2 * INSET,
      11,
    ).map((line, index) => textShape(INSET, PARAMETER_LINES[index], line, { "font-size": 11 })),
    ...lines.flatMap(([label, value], index) => {
      const y = FIRST_LINE + index * LINE;
      const isMain = label === (isShared ? "Holds up" : "Self time");
      return [
        textShape(INSET, y, label, { "font-size": 11 }),
        textShape(NODE.width - INSET, y, value, {
          "font-size": 11,
          "text-anchor": "end",
          "font-weight": isMain ? 600 : 400,
        }),
      ];
    }),
    rectShape(INSET, BAR.y, BAR.width, BAR.height, {
      fill: "var(--background)",
      stroke: "var(--control-border)",
      "stroke-width": 0.75,
    }),
    rectShape(INSET, BAR.y, Number((BAR.width * filled).toFixed(1)), BAR.height, {
      fill: "var(--c-input)",
      class: "self-bar",
    }),
    textShape(
      NODE.width - INSET,
      BAR.y + 7.5,
      Number.isNaN(share) ? NOT_MEASURED : formatRatio(ratio(share)),
      { "font-size": 11, "text-anchor": "end" },
    ),
  ];
}

export function stubShapes({ count, self }: Stub): Shape[] {
  const middle = { "font-size": 11, "text-anchor": "middle" };
  return [
    rectShape(0, 0, STUB.width, STUB.height, {
      rx: 4,
      fill: "var(--background)",
      class: "outline",
      ...OUTLINES.other,
    }),
    textShape(STUB.width / 2, 18, `+ ${formatCount(count)} more`, {
      ...middle,
      "font-weight": 600,
    }),
    textShape(STUB.width / 2, 34, `self ${formatTime(microseconds(self))}`, middle),
  ];
}

/** To the microsecond, since start times of one execution are close together. */
export function formatStart(start: number, scale: Scale): string {
  if (Number.isNaN(start)) return NOT_MEASURED;
  return `${formatTick(start, scale, 1)} ${scale.unit}`;
}

/** The most informative parameters, and their labels on nodes. */
const SHORT: readonly (readonly [pattern: RegExp, label: string])[] = [
  [/^(parallelism|num_parallel_calls)$/, "parallelism"],
  [/^cycle_length$/, "cycle"],
  [/^(buffer_size|buffer_limit|max_buffered_elements)$/, "buffer"],
  [/^autotune$/, "autotuned"],
  [/^batch_size$/, "batch"],
  [/^block_length$/, "block"],
];

/** "parallelism 8", "buffer 16"; empty if none of them was recorded. */
export function shortParameters(parameters: readonly Parameter[]): string[] {
  return SHORT.flatMap(([pattern, label]) => {
    const parameter = parameters.find(({ name }) => pattern.test(name));
    if (!parameter) return [];
    if (/^(true|false)$/.test(parameter.value)) return parameter.value === "true" ? [label] : [];
    if (parameter.value === "unavailable") return [];
    const isTuned = parameter.value === "-1" || parameter.value === "-2";
    return [`${label} ${isTuned ? "auto" : parameter.value}`];
  });
}
