/** The legend of the graph's colors and marks. */
import { formatTime } from "../../../base/format";
import type { Microseconds } from "../../../base/units";
import type { InstructionNode } from "../payload";
import { type ColorMode, GROUPS } from "./node_shapes";

interface InstructionLegendProps {
  readonly nodes: readonly InstructionNode[];
  readonly mode: ColorMode;
  readonly most: Microseconds;
}

export function InstructionLegend({ nodes, mode, most }: InstructionLegendProps) {
  const here = Object.entries(GROUPS).filter(([group]) =>
    nodes.some((node) => node.group === group),
  );
  return (
    <ul class="plain color-key" aria-label="Legend">
      {here.map(([group, [color, label]]) => (
        <li key={group}>
          <span class="graph-swatch" style={{ background: color }} aria-hidden="true" />
          {label}
        </li>
      ))}
      {mode === "time" ? (
        <li>
          <span class="graph-swatch graph-heat" aria-hidden="true" />
          {most > 0
            ? `self time, up to ${formatTime(most)}`
            : "self time: none of these instructions ran"}
        </li>
      ) : null}
      <li class="muted">
        operands above, users below · ↑↓ number not drawn · ⊞ expand · double-click to center
      </li>
    </ul>
  );
}
